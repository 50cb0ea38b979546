// Signals over time below the picture, with the cursor of the time at hand; a drag moves it.

function ticks(low, high, count) {
  const raw = (high - low) / count, power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find(f => f * power >= raw) * power, out = [];
  for (let v = Math.ceil(low / step - 1e-9) * step; v <= high + 1e-9 * step; v += step) out.push(Math.abs(v) < 1e-9 * step ? 0 : v);
  return out;
}

export const short = v => {
  if (v === 0 || !Number.isFinite(v)) return String(v);
  const a = Math.abs(v);
  return a >= 1e5 || a < 1e-3 ? v.toExponential(2).replace('e+', 'e') : String(+v.toPrecision(4));
};

export class Plots {
  constructor(canvas, motion, colors, seek, others = () => []) {
    Object.assign(this, {canvas, motion, colors, others, shown: new Set(), marginLeft: 62, marginRight: 14});
    const at = e => {
      const box = canvas.getBoundingClientRect(), width = box.width - this.marginLeft - this.marginRight;
      const part = Math.min(1, Math.max(0, (e.clientX - box.left - this.marginLeft) / width));
      seek(motion.t0 + part * (motion.t1 - motion.t0));
    };
    canvas.addEventListener('pointerdown', e => { canvas.setPointerCapture(e.pointerId); at(e); });
    canvas.addEventListener('pointermove', e => e.buttons && at(e));
  }

  // curves are drawn once for each size, the cursor for each picture
  draw(t, style) {
    const {canvas} = this, ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
    if (!width || !height) return;
    const key = [width, height, ratio, [...this.shown], style.key].join();
    if (key !== this.key) {
      this.key = key;
      canvas.width = width * ratio;
      canvas.height = height * ratio;
      this.layer = document.createElement('canvas');
      this.layer.width = canvas.width;
      this.layer.height = canvas.height;
      const g = this.layer.getContext('2d');
      g.scale(ratio, ratio);
      this.curves(g, width, height, style);
    }
    const g = canvas.getContext('2d');
    g.setTransform(1, 0, 0, 1, 0, 0);
    g.clearRect(0, 0, canvas.width, canvas.height);
    g.drawImage(this.layer, 0, 0);
    g.scale(ratio, ratio);
    this.cursor(g, t, width, height, style);
  }

  lanes(height) {
    const list = [...this.shown], each = (height - 22) / Math.max(1, list.length);
    return list.map((k, i) => ({signal: this.motion.signals[k], k, top: 6 + i * each, bottom: i * each + each}));
  }

  x(t, width) {
    const {t0, t1} = this.motion;
    return this.marginLeft + (t1 > t0 ? (t - t0) / (t1 - t0) : 0) * (width - this.marginLeft - this.marginRight);
  }

  range(values) {
    let low = Infinity, high = -Infinity;
    for (const list of values) for (const v of list) { if (v < low) low = v; if (v > high) high = v; }
    if (high - low < Math.max(1e-12, 1e-9 * Math.max(Math.abs(low), Math.abs(high)))) { const pad = Math.abs(low) * 0.1 || 1; low -= pad; high += pad; }
    return [low, high];
  }

  curves(g, width, height, style) {
    const {t0, t1, time} = this.motion;
    g.font = '11px system-ui, sans-serif';
    g.lineJoin = 'round';
    const along = t1 > t0 ? ticks(t0, t1, Math.max(2, width / 110)) : [];
    for (const t of along) {
      const last = t === along.at(-1);
      g.textAlign = last ? 'right' : 'center';
      g.fillStyle = style.grid;
      g.fillRect(this.x(t, width), 4, 1, height - 24);
      g.fillStyle = style.text;
      g.fillText(short(t) + (last ? ' s' : ''), Math.min(this.x(t, width) + (last ? 14 : 0), width - 3), height - 6);
    }
    for (const {signal, k, top, bottom} of this.lanes(height)) {
      const more = this.others(signal.name), [low, high] = signal.range = this.range([signal.values, ...more.map(o => o.values)]), y = v => bottom - 4 - (v - low) / (high - low) * (bottom - top - 10);
      for (const v of ticks(low, high, Math.max(1, (bottom - top) / 34))) {
        g.fillStyle = style.grid;
        g.fillRect(this.marginLeft, y(v), width - this.marginLeft - this.marginRight, 1);
        g.fillStyle = style.text;
        g.textAlign = 'right';
        g.fillText(short(v), this.marginLeft - 6, y(v) + 4);
      }
      const curve = (color, thick, times, values) => {
        g.strokeStyle = color;
        g.lineWidth = thick;
        g.beginPath();
        for (let i = 0; i < times.length && times[i] <= t1 * (1 + 1e-12); i++) g.lineTo(this.x(times[i], width), y(values[i]));
        g.stroke();
      };
      for (const o of more) curve(o.color, 1, o.time, o.values);
      curve(this.colors(k), 1.6, time, signal.values);
    }
  }

  cursor(g, t, width, height, style) {
    const x = this.x(t, width), i = this.motion.frame(t);
    g.fillStyle = style.cursor;
    g.fillRect(x - 0.5, 2, 1.5, height - 22);
    g.font = '600 11px system-ui, sans-serif';
    for (const {signal, k, top, bottom} of this.lanes(height)) {
      const [low, high] = signal.range, v = signal.values[i], y = bottom - 4 - (v - low) / (high - low) * (bottom - top - 10);
      const text = signal.name + ' = ' + short(Math.abs(v) < 1e-6 * (high - low) ? 0 : v), wide = g.measureText(text).width + 10;
      const at = x + 8 + wide > width ? x - 8 - wide : x + 8, line = Math.min(bottom - 8, Math.max(top + 12, y - 6));
      g.fillStyle = style.label;
      g.fillRect(at, line - 11, wide, 15);
      g.fillStyle = this.colors(k);
      g.textAlign = 'left';
      g.fillText(text, at + 5, line);
      g.beginPath();
      g.arc(x, y, 3.5, 0, 7);
      g.fill();
    }
  }
}
