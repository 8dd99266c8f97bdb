"""What a text becomes: each module answers one kind of request with messages for the page."""
