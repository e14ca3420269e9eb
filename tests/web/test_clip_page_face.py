"""Faces of figures are visible from the front and not from behind, in light and dark."""

from __future__ import annotations

import pytest

from support.clip_page import page_errors, take_picture, wait_ready
from support.web_pages import OpenPage

pytestmark = pytest.mark.browser

# Counts the grey pixels that are darker (or, on dark, lighter) than any other grey of a figure: those of the face.
COUNT = """async ([png, isDark]) => {
  const image = await createImageBitmap(new Blob([new Uint8Array(png)], { type: "image/png" }));
  const context = new OffscreenCanvas(image.width, image.height).getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, image.width, image.height);
  let count = 0;
  for (let k = 0; k < data.length; k += 4) {
    const [min, max] = [Math.min(data[k], data[k + 1], data[k + 2]), Math.max(data[k], data[k + 1], data[k + 2])];
    if (max - min < 24 && (isDark ? min > 185 : max < 75)) count += 1;
  }
  return count;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_face_is_visible_only_from_the_front(open_page: OpenPage, clip: str, scheme: str) -> None:
    face_pixels = {}
    for side, azimuth in (("front", 0), ("behind", 180)):
        address = f"/clips/{clip}?view_mode=capture&frame=0&camera={azimuth},8,3,0,0.3,0"
        with open_page(address, color_scheme=scheme, viewport={"width": 900, "height": 900}) as tab:
            page = tab.page
            wait_ready(page)
            face_pixels[side] = page.evaluate(COUNT, [list(take_picture(page)), scheme == "dark"])
            assert page_errors(tab) == []
    assert face_pixels["front"] > 150 + 2 * face_pixels["behind"], face_pixels
