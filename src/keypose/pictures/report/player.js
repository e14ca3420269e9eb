"use strict";
// The player of a report: original and unbaked motion with one camera, side by side or overlaid.
(() => {
  const { camera, colours, figure, floor, shadow } = keyposeScene;
  const still = window.matchMedia("(prefers-reduced-motion: reduce)");
  const INITIAL_VIEW = { yaw: 0, pitch: 0.16, zoom: 1 };
  const MAX_TICK_S = 0.25;
  const players = [];
  let paint = null;

  const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
  const clamp = (value, min, max) => Math.min(max, Math.max(min, value));

  class Clip {
    constructor(payload) {
      Object.assign(this, payload);
      this.positions = new Int16Array(bytes(payload.positions));
      this.path = new Float32Array(bytes(payload.path));
      this.storedFrames = new Uint32Array(bytes(payload.stored_frames));
      this.errors = payload.errors ? new Uint16Array(bytes(payload.errors)) : null;
      this.worstJoints = payload.worst_joints ? new Uint16Array(bytes(payload.worst_joints)) : null;
      this.nStored = this.path.length / 3;
      this.nPoints = this.positions.length / this.nStored / 6;
      this.points = [new Float32Array(3 * this.nPoints), new Float32Array(3 * this.nPoints)];
      this.cameraTarget = [0, 0, 0];
    }
    // Fills ``points`` of both figures and ``cameraTarget`` for a frame, which may be fractional.
    seek(frame) {
      const before = this.storedBefore(frame);
      const after = Math.min(before + 1, this.nStored - 1);
      const [from, to] = [this.storedFrames[before], this.storedFrames[after]];
      const part = to > from ? clamp((frame - from) / (to - from), 0, 1) : 0;
      for (let c = 0; c < 3; c++) this.cameraTarget[c] = this.path[3 * before + c] * (1 - part) + this.path[3 * after + c] * part;
      const size = 3 * this.nPoints;
      for (let which = 0; which < 2; which++) {
        const [a, b] = [(2 * before + which) * size, (2 * after + which) * size];
        for (let k = 0; k < size; k++) {
          this.points[which][k] = this.unit * (this.positions[a + k] * (1 - part) + this.positions[b + k] * part) + this.cameraTarget[k % 3];
        }
      }
    }
    // Index of the last stored frame that is not after ``frame``.
    storedBefore(frame) {
      let [low, high] = [0, this.nStored - 1];
      while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (this.storedFrames[middle] <= frame) low = middle;
        else high = middle - 1;
      }
      return low;
    }
    error(frame) {
      if (!this.errors) return "";
      const at = clamp(Math.round(frame / this.error_step), 0, this.worstJoints.length - 1);
      const [mean, max] = [0, 1].map((k) => (this.error_unit * this.errors[2 * at + k]).toFixed(1));
      return ` · off by ${mean} mm on average, ${max} mm at most (${this.joint_names[this.worstJoints[at]]})`;
    }
  }

  class Player {
    constructor(root) {
      this.root = root;
      const find = (name) => root.querySelector(`[data-part="${name}"]`);
      const names = ["stage", "play", "scrub", "status", "view", "speed", "loop", "follow", "tags"];
      this.part = Object.fromEntries(names.map((name) => [name, find(name)]));
      this.canvas = this.part.stage.querySelector("canvas");
      this.ctx = this.canvas.getContext("2d");
      this.frame = 0;
      this.playing = false;
      this.visible = false;
      this.clip = null;
      this.look = { ...INITIAL_VIEW };
      this.touches = new Map();
      this.listen(find);
      new ResizeObserver(() => this.draw()).observe(this.part.stage);
      new IntersectionObserver((entries) => this.onVisibility(entries[entries.length - 1]), { threshold: [0, 0.5] }).observe(this.part.stage);
      root.querySelectorAll("[data-needs-script]").forEach((each) => (each.hidden = false));
    }

    get data() {
      if (!this.clip) this.clip = new Clip(JSON.parse(document.getElementById(this.root.dataset.clip).textContent));
      return this.clip;
    }

    onVisibility(entry) {
      this.visible = entry.isIntersecting;
      if (this.visible) this.draw();
      if (entry.intersectionRatio >= 0.5 && !this.wasSeen) {
        this.wasSeen = true;
        if (!still.matches && this.data.n_frames > 1) this.play(true);
      }
      this.wake();
    }

    // Playback

    play(on) {
      this.playing = on;
      if (on && this.frame >= this.data.n_frames - 1) this.frame = 0;
      this.part.play.textContent = on ? "Pause" : "Play";
      this.last = null;
      this.wake();
    }
    wake() {
      if (this.playing && this.visible && !document.hidden && !this.ticking) {
        this.ticking = requestAnimationFrame((now) => this.tick(now));
      }
    }
    tick(now) {
      this.ticking = 0;
      if (!this.playing || !this.visible || document.hidden) {
        this.last = null;
        return;
      }
      const elapsed = this.last === null ? 0 : Math.min((now - this.last) / 1000, MAX_TICK_S);
      this.last = now;
      const end = this.data.n_frames - 1;
      const next = this.frame + elapsed * this.data.fps * Number(this.part.speed.value);
      if (next > end && !this.part.loop.checked) this.play(false);
      this.go(next <= end ? next : this.part.loop.checked ? next % Math.max(end, 1) : end);
      this.wake();
    }
    go(frame) {
      this.frame = clamp(frame, 0, this.data.n_frames - 1);
      this.draw();
    }
    step(by) {
      this.play(false);
      this.go(Math.round(this.frame) + by);
    }
    toKey(by) {
      this.play(false);
      const current = Math.round(this.frame);
      const keys = this.data.keys;
      const target = by > 0 ? keys.find((key) => key > current) : keys.findLast((key) => key < current);
      if (target !== undefined) this.go(target);
    }

    // Drawing

    draw() {
      const { clip, ctx } = { clip: this.data, ctx: this.ctx };
      const box = this.part.stage.getBoundingClientRect();
      const ratio = window.devicePixelRatio || 1;
      const [w, h] = [Math.max(1, Math.round(box.width)), Math.max(1, Math.round(box.height))];
      if (this.canvas.width !== Math.round(w * ratio) || this.canvas.height !== Math.round(h * ratio)) {
        this.canvas.width = Math.round(w * ratio);
        this.canvas.height = Math.round(h * ratio);
      }
      paint ??= colours();
      ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
      ctx.clearRect(0, 0, w, h);
      ctx.lineJoin = "round";
      clip.seek(this.frame);
      const over = this.part.view.value === "over";
      this.part.tags.classList.toggle("over", over);
      if (over) this.view({ left: 0, w, h }, [1], 0);
      else [0, 1].forEach((which) => this.view({ left: (which * w) / 2, w: w / 2, h }, [which], null));
      this.showStatus();
    }
    // Draws ``figures`` (indices) in one view, over a pale figure ``pale`` (index or null).
    view(view, figures, pale) {
      const { ctx, clip } = this;
      const follows = this.part.follow.checked;
      const [halfWidth, halfHeight] = follows ? clip.close_view : clip.full_view;
      const at = follows ? clip.cameraTarget : clip.middle;
      const look = { ...this.look, halfWidth, halfHeight, at: [at[0], clip.middle[1], at[2]] };
      const project = camera(view, look);
      ctx.save();
      ctx.beginPath();
      ctx.rect(view.left, 0, view.w, view.h);
      ctx.clip();
      floor(ctx, project, look, clip.floor, paint.grid);
      figures.forEach((which) => shadow(ctx, project, clip.parts, clip.points[which], clip.floor, paint.shadow));
      if (pale !== null) {
        const layer = new OffscreenCanvas(this.canvas.width, this.canvas.height);
        const other = layer.getContext("2d");
        other.setTransform(ctx.getTransform());
        const grey = Array(3).fill(Array(6).fill(paint.muted));
        figure(other, project, clip.parts, clip.points[pale], clip.shading, { ...paint, lit: grey, dark: grey, stripe: paint.muted });
        ctx.globalAlpha = 0.5;
        ctx.drawImage(layer, 0, 0, view.w, view.h);
        ctx.globalAlpha = 1;
      }
      figures.forEach((which) => figure(ctx, project, clip.parts, clip.points[which], clip.shading, paint));
      ctx.restore();
    }
    showStatus() {
      const { scrub, status } = this.part;
      const frame = Math.round(this.frame);
      const key = this.data.keys.includes(frame) ? " · key" : "";
      const when = `frame ${frame} · ${(frame / this.data.fps).toFixed(2)} s`;
      scrub.value = String(frame);
      scrub.setAttribute("aria-valuetext", `${when}${key}`.replaceAll(" ·", ","));
      status.textContent = `${when}${key}${this.data.error(this.frame)}`;
    }

    // Input

    listen(find) {
      const { stage, play, scrub, view, follow } = this.part;
      const clicks = { play: () => this.play(!this.playing), first: () => this.toKey(-1), next: () => this.toKey(1),
        back: () => this.step(-1), on: () => this.step(1), reset: () => this.turn(null) };
      for (const [name, act] of Object.entries(clicks)) find(name).addEventListener("click", act);
      scrub.addEventListener("input", () => {
        this.play(false);
        this.go(Number(scrub.value));
      });
      for (const each of [view, follow]) each.addEventListener("change", () => this.draw());
      this.root.addEventListener("keydown", (event) => this.press(event));
      stage.addEventListener("pointerdown", (event) => {
        stage.setPointerCapture(event.pointerId);
        this.touches.set(event.pointerId, [event.clientX, event.clientY]);
      });
      stage.addEventListener("pointermove", (event) => this.drag(event));
      for (const end of ["pointerup", "pointercancel"]) {
        stage.addEventListener(end, (event) => this.touches.delete(event.pointerId));
      }
      stage.addEventListener("wheel", (event) => {
        if (document.activeElement !== stage && !event.ctrlKey) return; // the page scrolls unless the view has the focus
        event.preventDefault();
        this.turn({ zoom: Math.exp(-event.deltaY / 600) });
      }, { passive: false });
    }
    drag(event) {
      const last = this.touches.get(event.pointerId);
      if (!last) return;
      const now = [event.clientX, event.clientY];
      const others = [...this.touches].filter(([id]) => id !== event.pointerId).map(([, at]) => at);
      this.touches.set(event.pointerId, now);
      if (others.length) {
        const apart = (at) => Math.hypot(at[0] - others[0][0], at[1] - others[0][1]);
        this.turn({ zoom: apart(now) / Math.max(apart(last), 1) });
      } else {
        this.turn({ yaw: (last[0] - now[0]) / 120, pitch: (now[1] - last[1]) / 160 });
      }
    }
    turn(by) {
      this.look = by === null ? { ...INITIAL_VIEW } : {
        yaw: this.look.yaw + (by.yaw ?? 0),
        pitch: clamp(this.look.pitch + (by.pitch ?? 0), -0.3, 1.5),
        zoom: clamp(this.look.zoom * (by.zoom ?? 1), 0.2, 8),
      };
      this.draw();
    }
    press(event) {
      const { stage, scrub } = this.part;
      const on = event.target;
      if (event.ctrlKey || event.metaKey || event.altKey || on.tagName === "SELECT") return;
      const view = { ArrowLeft: { yaw: 0.1 }, ArrowRight: { yaw: -0.1 }, ArrowUp: { pitch: 0.08 }, ArrowDown: { pitch: -0.08 },
        "+": { zoom: 1.15 }, "-": { zoom: 1 / 1.15 }, 0: null };
      const time = { ",": () => this.step(-1), ".": () => this.step(1), n: () => this.toKey(1), p: () => this.toKey(-1),
        Home: () => this.step(-Infinity), End: () => this.step(Infinity), " ": () => this.play(!this.playing) };
      const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
      if (key === " " && on !== stage && on !== scrub) return; // activates the focused control
      if (key in time) time[key]();
      else if (on === stage && key in view) this.turn(view[key]);
      else return;
      event.preventDefault();
    }
  }

  const all = (act) => players.forEach(act);
  const repaint = () => {
    paint = null;
    all((player) => (player.visible ? player.draw() : null));
  };
  let before = null;
  window.addEventListener("beforeprint", () => {
    before = document.documentElement.dataset.theme ?? "";
    document.documentElement.dataset.theme = "light";
    paint = null;
    all((player) => player.draw());
  });
  window.addEventListener("afterprint", () => {
    if (before) document.documentElement.dataset.theme = before;
    else delete document.documentElement.dataset.theme;
    repaint();
  });
  document.addEventListener("themechange", repaint);
  document.addEventListener("visibilitychange", () => all((player) => player.wake()));
  document.querySelectorAll(".player").forEach((root) => players.push(new Player(root)));
})();
