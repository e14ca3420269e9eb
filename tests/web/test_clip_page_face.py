"""Heads have faces: seen from the front and not from behind, by day and by night, of figures and of ghosts."""

from __future__ import annotations

import pytest
from clip_page import errors, picture, ready
from web_served import Look

pytestmark = pytest.mark.browser

# How many pixels of a picture, among those that are grey, are darker or lighter than any other grey of a figure.
COUNT = """async ([png, isDark]) => {
  const image = await createImageBitmap(new Blob([new Uint8Array(png)], { type: "image/png" }));
  const to = new OffscreenCanvas(image.width, image.height).getContext("2d");
  to.drawImage(image, 0, 0);
  const { data } = to.getImageData(0, 0, image.width, image.height);
  let count = 0;
  for (let k = 0; k < data.length; k += 4) {
    const [least, most] = [Math.min(data[k], data[k + 1], data[k + 2]), Math.max(data[k], data[k + 1], data[k + 2])];
    if (most - least < 24 && (isDark ? least > 185 : most < 75)) count += 1;
  }
  return count;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_face_is_seen_from_the_front_alone(look: Look, clip: str, scheme: str) -> None:
    seen = {}
    for side, azimuth in (("front", 0), ("behind", 180)):
        address = f"/clips/{clip}?show=capture&frame=0&camera={azimuth},8,3,0,0.3,0"
        with look(address, color_scheme=scheme, viewport={"width": 900, "height": 900}) as watched:
            page = watched.page
            ready(page)
            seen[side] = page.evaluate(COUNT, [list(picture(page)), scheme == "dark"])
            assert errors(watched) == []
    assert seen["front"] > 150 + 2 * seen["behind"], seen
