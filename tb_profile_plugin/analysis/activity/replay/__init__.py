"""What windows would last if something took another time: activities, what each waited for, and all of them again."""
