"use strict";
// Draws figures (hulls of balls), their shadows and a floor grid on a canvas, seen by an orbit camera.
// Lengths are millimetres of a figure of 1.7 m; x points right in the first view, y up, z towards the viewer.
const keyposeScene = (() => {
  const GRID_MM = 500;
  const FOCUS = 2.6; // focal length in heights of the view: long enough to avoid visible distortion of near hands
  const SIDES = ["left", "middle", "right"];
  const TONES = 6;
  const THIN_PX = 1.5; // radius below which a stripe is too thin to see
  const ROUND = Array.from({ length: 24 }, (_, k) => [Math.cos((k * Math.PI) / 12), Math.sin((k * Math.PI) / 12)]);

  function colours() {
    const style = getComputedStyle(document.documentElement);
    const read = (name) => style.getPropertyValue(`--kp-${name}`).trim();
    const tones = (more) => SIDES.map((side) => Array.from({ length: TONES }, (_, k) => read(`${side}${more}${k}`)));
    const plain = ["muted", "grid", "shadow", "outline", "stripe"];
    return Object.assign({ lit: tones(""), dark: tones("_dark") }, ...plain.map((name) => ({ [name]: read(name) })));
  }

  // Returns project(x, y, z) -> [x px, y px, px per mm, depth] for a view of w x h px at (left, 0).
  function camera(view, look) {
    const [cy, sy, cp, sp] = [Math.cos(look.yaw), Math.sin(look.yaw), Math.cos(look.pitch), Math.sin(look.pitch)];
    const focal = FOCUS * view.h;
    const tall = look.halfHeight * cp + look.halfWidth * Math.abs(sp);
    const away = Math.max((2 * focal * look.halfWidth) / view.w, (2 * focal * tall) / view.h) + 0.6 * look.halfWidth;
    const distance = away / look.zoom;
    const near = distance * 0.05;
    return (x, y, z) => {
      const [dx, dy, dz] = [x - look.at[0], y - look.at[1], z - look.at[2]];
      const across = cy * dx + sy * dz;
      const along = cy * dz - sy * dx;
      const depth = sp * dy + cp * along;
      const scale = focal / Math.max(distance - depth, near);
      return [view.left + view.w / 2 + across * scale, view.h / 2 - (cp * dy - sp * along) * scale, scale, depth];
    };
  }

  function floor(ctx, project, look, level, colour) {
    const reach = Math.min(Math.max(1.6 * look.halfWidth, 2 * GRID_MM), 40 * GRID_MM) / Math.min(look.zoom, 1);
    const step = GRID_MM * Math.max(1, Math.ceil(reach / GRID_MM / 12));
    ctx.beginPath();
    for (const [along, across] of [[0, 2], [2, 0]]) {
      const first = Math.ceil((look.at[across] - reach) / step) * step;
      for (let line = first; line <= look.at[across] + reach; line += step) {
        const half = Math.sqrt(Math.max(0, reach * reach - (line - look.at[across]) ** 2));
        const ends = [-half, half].map((side) => {
          const point = [0, level, 0];
          point[across] = line;
          point[along] = look.at[along] + side;
          return project(...point);
        });
        ctx.moveTo(ends[0][0], ends[0][1]);
        ctx.lineTo(ends[1][0], ends[1][1]);
      }
    }
    ctx.strokeStyle = colour;
    ctx.lineWidth = 1;
    ctx.stroke();
  }

  // Returns the convex hull of 2D points, always with the same orientation.
  function hull(points) {
    points.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    const isClockwise = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]) <= 0;
    const half = (some) => {
      const corners = [];
      for (const point of some) {
        while (corners.length > 1 && isClockwise(corners[corners.length - 2], corners[corners.length - 1], point)) corners.pop();
        corners.push(point);
      }
      corners.pop();
      return corners;
    };
    return [...half(points), ...half(points.slice().reverse())];
  }

  function outline(ctx, corners) {
    corners.forEach(([x, y], k) => (k ? ctx.lineTo(x, y) : ctx.moveTo(x, y)));
    ctx.closePath();
  }

  // Adds the path around balls (x, y, radius) in px: a circle, a tapered limb of two, or the hull of more.
  function shape(ctx, balls) {
    ctx.beginPath();
    const big = balls.length === 2 && inside(balls[0], balls[1]) ? [balls[0]]
      : balls.length === 2 && inside(balls[1], balls[0]) ? [balls[1]] : balls;
    if (big.length === 1) {
      ctx.arc(big[0][0], big[0][1], big[0][2], 0, 2 * Math.PI);
    } else if (big.length === 2) {
      const [[x0, y0, r0], [x1, y1, r1]] = big;
      const towards = Math.atan2(y1 - y0, x1 - x0);
      const open = Math.acos((r0 - r1) / Math.hypot(x1 - x0, y1 - y0));
      ctx.arc(x0, y0, r0, towards + open, towards - open + 2 * Math.PI);
      ctx.arc(x1, y1, r1, towards - open, towards + open);
      ctx.closePath();
    } else {
      outline(ctx, hull(big.flatMap(([x, y, r]) => ROUND.map(([c, s]) => [x + r * c, y + r * s]))));
    }
  }

  const inside = ([x0, y0, r0], [x1, y1, r1]) => Math.hypot(x1 - x0, y1 - y0) <= r0 - r1 + 1e-6;

  function shadow(ctx, project, parts, points, level, colour) {
    ctx.beginPath();
    for (const part of parts) {
      const rim = part.points.flatMap((p, k) =>
        ROUND.filter((_, n) => n % 2 === 0).map(([c, s]) =>
          project(points[3 * p] + part.radii[k] * c, level, points[3 * p + 2] + part.radii[k] * s)));
      outline(ctx, hull(rim));
    }
    ctx.fillStyle = colour;
    ctx.fill();
  }

  // Draws parts from far to near: dark colour, light area towards the upper left, and a stripe or dashes on the right side
  // of the body, so that sides differ by more than colour. ``shading`` has the same values as for strips.
  function figure(ctx, project, parts, points, shading, paint) {
    const items = parts.map((part) => {
      const at = part.points.map((p) => project(points[3 * p], points[3 * p + 1], points[3 * p + 2]));
      const balls = at.map(([x, y, scale], k) => [x, y, Math.max(part.radii[k] * scale, 0.4)]);
      return { part, balls, depth: at.reduce((sum, each) => sum + each[3], 0) / at.length };
    });
    items.sort((a, b) => a.depth + a.part.bias - b.depth - b.part.bias);
    const middle = items.reduce((sum, each) => sum + each.depth, 0) / items.length;
    ctx.lineWidth = 0.9;
    ctx.lineCap = "round";
    for (const { part, balls, depth } of items) {
      const nearness = Math.min(1, Math.max(0, (depth - middle) / shading.depth + 0.5));
      const tone = Math.round(nearness * (TONES - 1));
      shape(ctx, balls);
      ctx.fillStyle = paint.dark[part.side][tone];
      ctx.strokeStyle = paint.outline;
      ctx.fill();
      ctx.stroke();
      shape(ctx, balls.map(([x, y, r]) => [x + shading.light[0] * r, y + shading.light[1] * r, shading.lit * r]));
      ctx.fillStyle = paint.lit[part.side][tone];
      ctx.fill();
      if (part.striped) stripe(ctx, balls, shading, paint.stripe);
    }
  }

  // Draws a light line along a limb or across a ball; dashes where the line would be too thin to see.
  function stripe(ctx, balls, shading, colour) {
    const radius = balls.reduce((sum, ball) => sum + ball[2], 0) / balls.length;
    const across = balls.length === 1 ? radius : 0;
    const dashed = balls.length > 1 && (shading.dashed || radius < THIN_PX);
    const [[x0, y0], [x1, y1]] = [balls[0], balls[balls.length - 1]];
    ctx.save();
    ctx.beginPath();
    ctx.moveTo(x0 - across, y0);
    ctx.lineTo(x1 + across, y1);
    ctx.lineCap = "butt";
    ctx.lineWidth = (dashed ? 2 : shading.stripe) * radius;
    if (dashed) ctx.setLineDash([shading.dashes * ctx.lineWidth]);
    ctx.strokeStyle = colour;
    ctx.stroke();
    ctx.restore();
  }

  return { camera, colours, figure, floor, shadow };
})();
