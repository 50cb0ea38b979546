// Other runs over the first one: ghosts of their own, and their signals as thin lines.
import {Motion} from './data.js';
import {Mechanism} from './mechanism.js';
import {Color} from 'three';

const COLORS = ['#e0574f', '#8a6fd1', '#c9a227', '#2fa4b8', '#c94f7c', '#7fa33a'];

export class Others {
  constructor(view) {
    this.view = view;
    const list = view.data.others, many = list.length > COLORS.length; // iterates: from grey to red
    this.list = list.map((data, k) => {
      const color = many ? '#' + new Color('#aab3c0').lerp(new Color('#e0574f'), k / (list.length - 1)).getHexString() : COLORS[k];
      const motion = new Motion(data), mechanism = new Mechanism(data.scene, motion, {ghost: true, color, opacity: many ? 0.25 : 0.4});
      view.world.add(mechanism.group);
      return {name: data.scene.label, color, motion, mechanism, on: true};
    });
  }

  toggle(k, on = !this.list[k].on) {
    this.list[k].on = this.list[k].mechanism.group.visible = on;
    this.view.plots.key = null;
    this.view.legend();
    this.view.dirty = true;
  }

  update(t) {
    for (const o of this.list) {
      if (!o.on) continue;
      o.motion.set(Math.min(o.motion.t1, Math.max(o.motion.t0, t)));
      o.mechanism.update();
    }
  }

  // curves of the same name, for the plots
  curves(name) {
    return this.list.filter(o => o.on).flatMap(o => o.motion.signals.filter(s => s.name === name).map(s => ({color: o.color, time: o.motion.time, values: s.values})));
  }
}
