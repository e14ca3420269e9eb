"""Notebook cards of Keypose types: a small picture and facts, under 60 KB, without script."""

from keypose.pictures.cards.keys import keyed_card, selection_card
from keypose.pictures.cards.ladder import ladder_card
from keypose.pictures.cards.score import score_card
from keypose.pictures.cards.swings import swings_card

__all__ = ["keyed_card", "ladder_card", "score_card", "selection_card", "swings_card"]
