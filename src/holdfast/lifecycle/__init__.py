"""What happens to records as they age: forgetting."""
