// Search without a server: a page opened as a file may not start workers, so the search runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.onmessage = null;
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inner = (this.inner = frame.contentWindow);
      this.ready = new Promise((resolve) => {
        inner.document.open();
        inner.toPage = (data) => {
          const event = new MessageEvent("message", { data });
          this.dispatchEvent(event);
          if (this.onmessage) this.onmessage(event);
        };
        inner.isReady = resolve;
        inner.document.write(
          "<script>self.postMessage = function (data) { toPage(data); };</script>" +
            '<script src="' + url + '" onload="isReady()"></script>',
        );
        inner.document.close();
      });
    }
    postMessage(data) {
      this.ready.then(() => this.inner.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {}
  };
}
