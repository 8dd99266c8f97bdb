"""Questions about motions: sensitivities, studies, identification, the human body."""
