"""What a capture holds as tables for data frames: pandas directly, anything else by Arrow's capsules."""
