"""KataGo's JSON analysis protocol, the review of game records, and the estimation of players' ranks."""
