"""Searches by example on the library page: whole clips, parts, poses; where the match lies."""

from __future__ import annotations

from typing import Any

import pytest
from web_served import Look

pytestmark = pytest.mark.browser


def _span(card: Any) -> tuple[float, float]:
    """From where to where the bar under the strip is filled, as parts of it."""
    bar, span = card.locator(".match-bar").bounding_box(), card.locator(".match-bar i").bounding_box()
    left = (span["x"] - bar["x"]) / bar["width"]
    return left, left + span["width"] / bar["width"]


def test_more_like_this(look: Look, hashes: dict[str, str]) -> None:
    with look() as watched:
        page = watched.page
        card = page.locator(".card", has=page.get_by_role("link", name="walk", exact=True))
        card.hover()
        card.get_by_role("button", name="More like walk", exact=True).click()
        page.wait_for_url(f"**/?like={hashes['walk']}")
        page.wait_for_selector(".grid.hits .match-facts")
        page.get_by_role("heading", name="Clips like walk").wait_for()
        first = page.locator(".grid.hits .card").first
        assert first.locator(".card-name").inner_text() == "walk again"
        assert first.locator(".match-facts b").inner_text().endswith("%")
        assert first.locator(".match-says").inner_text() != ""
        assert page.locator(".card-name", has_text="walk").count() == 1  # not the clip itself
        assert page.title() == "Search · Keypose"
        page.go_back()
        page.wait_for_selector("text=8 clips")
        page.go_forward()
        page.wait_for_selector(".grid.hits .match-facts")
        page.get_by_role("button", name="End this search").click()
        page.wait_for_selector("text=8 clips")
        assert watched.complaints == []


def test_a_part_is_found_where_it_lies(look: Look, hashes: dict[str, str]) -> None:
    with look(f"/?part={hashes['kick']}:25-65") as watched:  # frames 290 to 330 of the whole
        page = watched.page
        card = page.locator(".grid.hits .card", has=page.get_by_role("link", name="all of it"))
        card.wait_for()
        start, end = _span(card)
        assert start == pytest.approx(290 / 370, abs=0.05)
        assert end == pytest.approx(330 / 370, abs=0.05)
        link = card.locator(".card-name").get_attribute("href")
        assert link.startswith(f"/clips/{hashes['all of it']}?frame=2") and "&range=2" in link
        page.get_by_role("heading", name="Moments like a part of kick").wait_for()
        assert watched.complaints == []


def test_a_pose_is_found_and_the_search_can_be_changed(look: Look, hashes: dict[str, str]) -> None:
    with look(f"/?pose={hashes['kick']}:45") as watched:
        page = watched.page
        card = page.locator(".grid.hits .card", has=page.get_by_role("link", name="all of it"))
        card.wait_for()
        start, end = _span(card)
        assert start == pytest.approx(310 / 370, abs=0.05) and end - start < 0.1
        assert card.locator(".match-facts").inner_text().split("\n")[-1] != ""
        with page.expect_request("**/api/search") as asked:
            page.get_by_label("also mirrored").uncheck()
        assert asked.value.post_data_json["mirrored"] is False
        page.wait_for_url("**mirrored=0")
        with page.expect_request("**/api/search") as asked:
            page.get_by_label("Compare").select_option("legs")
        assert asked.value.post_data_json["joints"] == ["legs"]
        page.wait_for_url("**by=legs")
        page.reload()
        page.wait_for_selector(".grid.hits .match-facts")
        assert page.get_by_label("Compare").input_value() == "legs"
        assert not page.get_by_label("also mirrored").is_checked()
        assert watched.complaints == []


def test_an_example_that_is_not_there(look: Look) -> None:
    with look(f"/?like={'0' * 64}") as watched:
        alert = watched.page.get_by_role("alert")
        alert.wait_for()
        assert "The search found no answer" in alert.inner_text()
        assert all("404" in complaint for complaint in watched.complaints)  # the browser tells of them itself
