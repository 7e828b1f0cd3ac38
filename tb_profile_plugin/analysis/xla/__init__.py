"""Programs of XLA: what their instructions cost by their shapes, how long they ran, their memory, text and graph."""
