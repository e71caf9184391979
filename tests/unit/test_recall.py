"""Recall by words: what matters for the question, of all that is in sight."""

import pytest

import holdfast
from tests.unit.conversations import encoded

FACTS = [
    "Prefers reports in CSV format",
    "Works at the harbour in Málaga",
    "Drinks green tea, no sugar",
    "The quarterly revenue was 4.2 million",
]


@pytest.fixture
def informed(alice):
    """Alice, of whom four things are known."""
    alice.remember_many(FACTS)
    return alice


def found_texts(found):
    """The texts that were found, best first."""
    return [hit.text for hit in found]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("how should the report look?", FACTS[0]),
        ("Where does she WORK?", FACTS[1]),
        ("what tea", FACTS[2]),
        ("revenues", FACTS[3]),
    ],
)
def test_recall_finds_by_words_alone(informed, question, answer):
    """Without a model, a key or a download; endings and capitals do not matter."""
    assert found_texts(informed.recall(question)) == [answer]


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("彼は東京の会社で働いている", "東京"),
        ("Работает в порту", "порту"),
        ("Ｆｕｌｌ width", "full"),
        ("Straße 7", "STRASSE"),
        ("ignores emoji 🦊 around words", "words"),
    ],
)
def test_words_of_any_script_are_found(alice, text, question):
    """Folded alike on both sides."""
    alice.remember(text)

    assert found_texts(alice.recall(question)) == [text]


def test_recall_reads_facts_and_episodes(informed, thread):
    """Knowledge, messages and notes in one answer."""
    thread.add("user", "The harbour was closed today")
    thread.note("insight", "The harbour matters to her")

    found = informed.recall("harbour")

    assert {hit.kind for hit in found} == {"fact", "message", "insight"}


def test_more_shared_words_come_first(informed):
    """Both mention reports; one answers the question."""
    informed.remember("Reads reports in the morning")

    found = informed.recall("CSV reports format")

    assert found_texts(found) == [FACTS[0], "Reads reports in the morning"]
    assert found[0].score > found[1].score


def test_relevance_is_the_share_of_the_questions_informative_words(informed):
    """Absolute, so that a threshold means something; `why` names what it is."""
    (hit,) = informed.recall("the green tea with milk and honey")

    assert hit.relevance == pytest.approx(2 / 4, abs=0.001)
    assert "share of words" in hit.why.values()
    assert hit.score > 0


def test_a_minimum_relevance_cuts(informed):
    """Below it nothing is better than something."""
    question = "green tea with milk and honey"

    assert found_texts(informed.recall(question, min_relevance=0.5)) == [FACTS[2]]
    assert found_texts(informed.recall(question, min_relevance=0.51)) == []


@pytest.mark.parametrize("question", ["", "   ", "🦊", "?!", "zebra"])
def test_a_question_that_nothing_answers_finds_nothing(informed, question):
    """An empty answer is falsy, and its text is empty."""
    found = informed.recall(question)

    assert (list(found), str(found), bool(found)) == ([], "", False)


@pytest.mark.parametrize(("limit", "count"), [(0, 0), (1, 1), (3, 3), (None, 12)])
def test_a_limit_counts_items(alice, limit, count):
    """None: as many as there are."""
    alice.remember_many([f"report number {number}" for number in range(12)])

    assert len(alice.recall("report", limit=limit)) == count


def test_the_default_limit_is_ten(alice):
    """A prompt is no archive."""
    alice.remember_many([f"report number {number}" for number in range(12)])

    assert len(alice.recall("report")) == len(alice.recall()) == 10


@pytest.mark.parametrize(
    ("kinds", "texts"),
    [
        (["fact"], {"The harbour is closed"}),
        (["rule", "insight"], {"Never sail the harbour alone", "The harbour matters"}),
        (["message"], {"What of the harbour?"}),
        ([], set()),
        (["unknown"], set()),
    ],
)
def test_kinds_narrow_it(alice, thread, kinds, texts):
    """Of facts and episodes alike."""
    alice.remember("The harbour is closed")
    alice.remember("Never sail the harbour alone", kind="rule")
    thread.add("user", "What of the harbour?")
    thread.note("insight", "The harbour matters")

    assert set(found_texts(alice.recall("harbour", kinds=kinds))) == texts


def test_a_system_prompt_is_not_remembered_knowledge(alice, thread):
    """It was given by the program, and would be shown to itself."""
    thread.add("system", "You speak of the harbour")

    assert list(alice.recall("harbour")) == []


def test_without_a_question_the_most_used_facts_come_first(memory, informed, clock):
    """By access count, then newest; counted in memory, written by `flush`."""
    informed.recall("tea")
    informed.recall("tea")
    informed.recall("harbour")

    found = informed.recall()

    assert found_texts(found)[:2] == [FACTS[2], FACTS[1]]
    assert found_texts(found)[2:] == [FACTS[3], FACTS[0]]


def test_counts_are_still_there_after_flush_and_reopening(memory, informed, clock, reopen):
    """Recall itself never writes."""
    informed.recall("tea")
    when = clock.now
    memory.flush()

    again = reopen().scope(user="alice", agent="support", tenant="acme")

    (hit,) = again.recall("tea")
    assert (hit.access_count, hit.accessed_at) == (1, when)


def test_closing_flushes(informed, reopen):
    """Nothing is asked of a program that ends well."""
    informed.recall("tea")

    again = reopen().scope(user="alice", agent="support", tenant="acme")

    assert again.recall("tea")[0].access_count == 1


def test_the_access_count_of_a_message_is_the_same_wherever_it_is_shown(memory, alice, thread):
    """Before and after it was written."""
    said = thread.add("user", "What of the harbour?")
    alice.recall("harbour")
    memory.flush()

    counts = (
        alice.get(said.id).access_count,
        alice.recent()[0].access_count,
        alice.recall("harbour")[0].access_count,
    )

    assert len(set(counts)) == 1


def test_counting_does_not_change_a_record(memory, informed):
    """Neither its version nor its place in a listing."""
    before = [(hit.id, hit.version) for hit in informed.records()]

    informed.recall("tea")
    memory.flush()

    assert [(hit.id, hit.version) for hit in informed.records()] == before


def test_what_is_superseded_or_forgotten_is_not_recalled(alice):
    """Only what is held true now."""
    alice.remember("Lives in Vienna", key="home")
    alice.remember("Lives in Graz", key="home")
    gone = alice.remember("Lives by the river")
    alice.forget(gone.id)

    assert found_texts(alice.recall("Vienna or by the river?")) == []
    assert found_texts(alice.recall("lives")) == ["Lives in Graz"]


def test_an_answer_is_a_sequence(informed):
    """It can be counted, indexed, sliced and walked."""
    found = informed.recall("reports tea")

    assert len(found) == 2
    assert found[0] in found
    assert list(found[:1]) == [found[0]]
    assert bool(found)
    assert found.incomplete is False


class TestTheText:
    """`str(found)`: the block for the prompt."""

    def test_the_text_has_labelled_sections(self, informed, thread):
        """What was said lately, and what is known."""
        thread.add("user", "Good morning")

        text = str(informed.recall("report"))

        recent, known = text.index("## Recent context"), text.index("## Relevant knowledge")
        assert recent < text.index("user: Good morning") < known
        assert known < text.index("[1.00] Prefers reports in CSV format")

    def test_recent_context_is_of_the_last_day(self, informed, thread, clock):
        """Older talk comes by its words."""
        thread.add("user", "Good morning")
        clock.advance(hours=25)

        assert "Good morning" not in str(informed.recall("report"))

    def test_one_item_is_one_line(self, alice):
        """Whatever breaks it holds."""
        alice.remember("report\nfirst\r\nsecond\u2028third\x0bfourth\x85fifth\tend")

        text = str(alice.recall("report"))

        (line,) = [line for line in text.splitlines() if "report" in line]
        assert line.endswith("report first second third fourth fifth end")

    def test_a_long_line_is_cut_in_the_text_alone(self, alice):
        """The hit has all of it."""
        alice.remember("report " * 200)

        found = alice.recall("report")

        line = max(str(found).splitlines(), key=len)
        assert len(line) < 220
        assert line.endswith("…")
        assert found[0].length == 1_400

    @pytest.mark.parametrize("budget", [0, 20, 60, 120, 400, 100_000])
    def test_a_budget_cuts_hits_and_text_alike(self, alice, budget):
        """Counted with a real tokenizer over the whole block."""
        alice.remember_many([f"report number {n} was about topic {n}" for n in range(30)])

        found = alice.recall("report", limit=None, budget_tokens=budget)

        assert encoded(str(found)) <= budget
        assert sum("[1.00]" in line for line in str(found).splitlines()) == len(found)
        assert (len(found) == 30) == (budget == 100_000)


@pytest.mark.parametrize(
    "arguments",
    [
        {"limit": -1},
        {"limit": "ten"},
        {"limit": 1.5},
        {"limit": True},
        {"budget_tokens": -1},
        {"budget_tokens": "many"},
        {"min_relevance": 1.5},
        {"min_relevance": -0.1},
        {"min_relevance": float("nan")},
        {"min_relevance": "high"},
        {"kinds": "fact"},
        {"kinds": [7]},
        {"query": 7},
        {"query": "a\0b"},
        {"query": "\ud800"},
    ],
    ids=lambda arguments: repr(arguments)[:40].encode("ascii", "replace").decode(),
)
def test_a_wrong_argument_is_refused(alice, arguments):
    """With its name and what to pass."""
    with pytest.raises(holdfast.InvalidInput, match=next(iter(arguments))[:4]) as caught:
        alice.recall(**arguments)

    assert caught.value.hint
