"""`once`: an effect happens once, or is said to be in doubt; never a silent repeat."""

import threading
from functools import partial

import pytest

import holdfast


class Outbox:
    """Where mails go: it counts what a repeat would do."""

    def __init__(self):
        self.sent = []

    def send(self, to="finance", *, subject="Q4"):
        """Send, and say how many were sent so far."""
        self.sent.append((to, subject))
        return {"number": len(self.sent)}

    def fail(self):
        """Send, and never hear whether it arrived."""
        self.sent.append(("finance", "Q4"))
        raise ConnectionResetError


@pytest.fixture
def outbox():
    """An empty one."""
    return Outbox()


def test_the_result_is_given_again(thread, outbox):
    """The second call sends nothing and answers the same."""
    first = thread.once("send", outbox.send, "finance", subject="Q4")
    second = thread.once("send", outbox.send, "finance", subject="Q4")

    assert first == second == {"number": 1}
    assert outbox.sent == [("finance", "Q4")]


def test_the_next_process_gets_the_result_too(thread, reopen, outbox, url):
    """It is recorded before the call returns."""
    thread.once("send", outbox.send)

    again = reopen().scope(user="alice", tenant="acme").thread("q4-report")

    assert again.once("send", outbox.send) == {"number": 1}
    assert len(outbox.sent) == 1


def test_a_step_belongs_to_its_thread(alice, thread, outbox):
    """The same name elsewhere is another step."""
    thread.once("send", outbox.send)
    alice.thread("another").once("send", outbox.send)

    assert len(outbox.sent) == 2


@pytest.mark.parametrize(
    "other",
    [
        lambda thread, outbox: thread.once("send", outbox.send, "sales", subject="Q4"),
        lambda thread, outbox: thread.once("send", outbox.send, "finance", subject="Q3"),
        lambda thread, outbox: thread.once("send", outbox.send, "finance"),
        lambda thread, outbox: thread.once("send", outbox.fail),
    ],
    ids=["argument", "named argument", "fewer", "function"],
)
def test_other_arguments_or_another_function_are_a_conflict(thread, outbox, other):
    """A step's identity is its name: two pieces of work need two."""
    thread.once("send", outbox.send, "finance", subject="Q4")

    with pytest.raises(holdfast.Conflict, match="another function or other arguments") as caught:
        other(thread, outbox)

    assert caught.value.step == "send"
    assert caught.value.hint
    assert len(outbox.sent) == 1


def test_an_exception_leaves_it_in_doubt(thread, outbox):
    """The mail may have gone out before the connection broke."""
    with pytest.raises(ConnectionResetError):
        thread.once("send", outbox.fail)

    with pytest.raises(holdfast.InDoubt, match="may or may not have happened") as caught:
        thread.once("send", outbox.fail)

    assert (caught.value.step, caught.value.thread) == ("send", "q4-report")
    assert "thread.settle" in caught.value.hint
    assert thread.step_status("send") == "in_doubt"
    assert len(outbox.sent) == 1


def test_settled_with_a_result_it_is_done(thread, outbox):
    """A person looked: it had gone out."""
    with pytest.raises(ConnectionResetError):
        thread.once("send", outbox.fail)

    thread.settle("send", result={"number": 1})

    assert thread.step_status("send") == "done"
    assert thread.once("send", outbox.fail) == {"number": 1}
    assert len(outbox.sent) == 1


def test_settled_without_a_result_it_is_done_with_none(thread, outbox):
    """It happened, and there was nothing to return."""
    with pytest.raises(ConnectionResetError):
        thread.once("send", outbox.fail)

    thread.settle("send", result=None)

    assert thread.once("send", outbox.fail) is None


def test_settled_for_a_retry_it_runs_again(thread, outbox):
    """A person looked: it had not."""
    with pytest.raises(ConnectionResetError):
        thread.once("send", outbox.fail)

    thread.settle("send", retry=True)

    assert thread.step_status("send") == "absent"
    assert thread.once("send", outbox.send) == {"number": 2}


def test_a_step_that_never_began_cannot_be_settled(thread):
    """There is nothing to decide."""
    with pytest.raises(holdfast.NotFound, match="has not begun"):
        thread.settle("send", retry=True)


def test_a_step_that_is_done_cannot_be_settled(thread, outbox):
    """Its result stands."""
    thread.once("send", outbox.send)

    with pytest.raises(holdfast.Conflict, match="is done"):
        thread.settle("send", retry=True)

    assert thread.once("send", outbox.send) == {"number": 1}


def test_a_step_is_settled_one_way(thread):
    """Done and to be done again exclude each other."""
    with pytest.raises(holdfast.InvalidInput, match="retry"):
        thread.settle("send", result=1, retry=True)


@pytest.mark.parametrize(
    ("prepare", "status"),
    [
        (lambda thread, outbox: None, "absent"),
        (lambda thread, outbox: thread.once("send", outbox.send), "done"),
    ],
    ids=["never begun", "done"],
)
def test_its_status_is_told(thread, outbox, prepare, status):
    """Without running anything."""
    prepare(thread, outbox)

    assert thread.step_status("send") == status


class TestWhileItRuns:
    """Seen from inside the function, which is the moment in between."""

    @pytest.fixture
    def look(self, thread):
        """Run a look at the world inside the step, and give what it saw."""

        def during(look):
            seen = []
            thread.once("send", lambda: seen.append(look()))
            return seen[0]

        return during

    def test_its_status_is_running(self, thread, look):
        """For everybody who asks in this process."""
        assert look(lambda: thread.step_status("send")) == "running"

    def test_unfinished_says_running(self, memory, look):
        """It is neither lost nor in doubt."""
        (found,) = look(lambda: memory.unfinished(tenant="acme"))

        assert (found.why, found.step) == ("running", "send")

    def test_another_handle_in_the_process_sees_it_running(self, url, clock, thread, look):
        """Two handles on one file are two workers that know of each other."""

        def status():
            with holdfast.open(url, clock=clock) as other:
                return (
                    other.scope(user="alice", tenant="acme").thread("q4-report").step_status("send")
                )

        # In memory a second handle is a second, empty memory.
        assert look(status) == ("absent" if url == "memory://" else "running")

    def test_whoever_else_wants_it_is_told_to_wait(self, thread):
        """Busy at once, in another thread of the process as in another worker."""
        refused = []

        def send():
            def rival():
                with pytest.raises(holdfast.Busy) as caught:
                    thread.once("send", send)
                refused.append(caught.value)

            other = threading.Thread(target=rival)
            other.start()
            other.join()
            return "sent"

        result = thread.once("send", send)

        assert result == "sent"
        assert refused[0].step == "send"
        assert refused[0].hint

    def test_it_cannot_be_settled(self, thread, look):
        """Who runs it decides."""

        def settle():
            with pytest.raises(holdfast.Busy):
                thread.settle("send", retry=True)
            return thread.step_status("send")

        assert look(settle) == "running"


class TestTheStepParameter:
    """A function with a keyword-only parameter `step` is given the step."""

    def test_it_gets_the_key_for_outside_services(self, thread):
        """A text of its own for each step."""

        def send(to, *, step):
            return [to, step.name, step.key]

        to, name, key = thread.once("send", send, "finance")
        _, _, other = thread.once("send again", send, "finance")

        assert (to, name) == ("finance", "send")
        assert isinstance(key, str)
        assert key
        assert key != other

    def test_the_key_stays_the_same_at_a_retry(self, thread):
        """So that the service can tell a repeat from a second order."""
        keys = []

        def send(*, step):
            keys.append(step.key)
            if len(keys) == 1:
                raise ConnectionResetError

        with pytest.raises(ConnectionResetError):
            thread.once("send", send)
        thread.settle("send", retry=True)
        thread.once("send", send)

        assert keys[0] == keys[1]

    def test_a_function_without_one_gets_none(self, thread):
        """A positional `step` is the function's own business."""

        def count(step=7):
            return step

        assert thread.once("count", count) == 7


def test_a_functions_own_names_are_free(thread):
    """`name` and `function` are common names of arguments."""

    def greet(*, name, function):
        return f"{function} {name}"

    assert thread.once("greet", greet, name="Alice", function="Hello") == "Hello Alice"


def test_any_callable_will_do(thread, outbox):
    """Builtins and partial functions have odd signatures."""
    assert thread.once("longest", max, 3, 7) == 7
    assert thread.once("send", partial(outbox.send, "sales")) == {"number": 1}


def test_arguments_that_are_no_plain_data_are_refused_before_it_runs(thread, outbox):
    """They could not be compared with those of the next call."""
    with pytest.raises(holdfast.InvalidInput, match="arguments") as caught:
        thread.once("send", outbox.send, object())

    assert "closes over" in caught.value.hint
    assert thread.step_status("send") == "absent"
    assert outbox.sent == []


def test_a_result_that_is_no_plain_data_leaves_it_in_doubt(thread):
    """The effect has happened, and what it gave cannot be given again."""
    with pytest.raises(holdfast.InvalidInput, match="result") as caught:
        thread.once("send", lambda: {1, 2})

    assert caught.value.hint
    assert thread.step_status("send") == "in_doubt"


@pytest.mark.parametrize("result", [None, "", 0, [1, {"a": None}], 2**80, "🦊"], ids=repr)
def test_a_plain_result_comes_back_as_it_was(thread, result):
    """From the record as from the function."""
    first, second = (thread.once("get", lambda: result) for _ in range(2))

    assert first == second == result
    assert type(second) is type(result)


@pytest.mark.parametrize("name", ["", "*", "a\0b", 7, "x" * 513], ids=lambda name: repr(name)[:9])
def test_a_step_has_a_name_that_can_be_kept(thread, name, outbox):
    """It is an id like others."""
    with pytest.raises(holdfast.InvalidInput) as caught:
        thread.once(name, outbox.send)

    assert caught.value.hint
    assert outbox.sent == []


def test_ctrl_c_inside_leaves_it_in_doubt_and_goes_on(thread):
    """An interrupt is no result either."""

    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        thread.once("send", interrupted)

    assert thread.step_status("send") == "in_doubt"


def test_another_partial_under_the_same_name_is_another_function(thread):
    """What it wraps and fills in is what it is."""
    assert thread.once("count", partial(len, "abc")) == 3

    with pytest.raises(holdfast.Conflict):
        thread.once("count", partial(max, "abc"))
