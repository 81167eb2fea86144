/*
 * The search of the site runs in a Worker, which browsers refuse to start for a page that is opened from a disk. For
 * such pages this runs the Worker's script in a hidden frame.
 */
if (location.protocol === "file:") {
  window.Worker = class {
    onmessage = null;
    onerror = null;

    constructor(url) {
      // Messages that are sent before the frame has loaded.
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = "<!doctype html>";
      this.frame.onload = () => this.load(String(url));
      document.documentElement.append(this.frame);
    }

    load(url) {
      this.frame.onload = null;
      const scope = this.frame.contentWindow;
      scope.postMessage = (data) => setTimeout(() => this.onmessage?.({ data }));
      const script = scope.document.createElement("script");
      script.onload = () => {
        this.scope = scope;
        this.waiting.forEach((data) => scope.onmessage({ data }));
      };
      script.onerror = (event) => this.onerror?.(event);
      script.src = url;
      scope.document.body.append(script);
    }

    postMessage(data) {
      if (this.scope === undefined) {
        this.waiting.push(data);
      } else {
        setTimeout(() => this.scope?.onmessage({ data }));
      }
    }

    terminate() {
      this.frame.remove();
      this.scope = undefined;
    }
  };
}
