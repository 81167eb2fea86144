/** URLs of hubs: what `raydap connect` takes. */

const SCHEMES = ['ws:', 'wss:', 'tcp:', 'tcps:'];

export const EXAMPLE = 'ws://127.0.0.1:4711/dap';

export function isHubUrl(address: string): boolean {
  return /^(wss?|tcps?):/i.test(address);
}

/** A sentence that says why this is not the URL of a hub; undefined if it is one. */
export function hubUrlError(url: string): string | undefined {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return `"${url}" is not the URL of a hub; write it like ${EXAMPLE}.`;
  }
  if (!SCHEMES.includes(parsed.protocol)) {
    return `A hub's URL begins with ws://, wss://, tcp:// or tcps://, not with ${parsed.protocol}//.`;
  }
  // `parsed.port` is empty for a scheme's usual port, even where it is written.
  if (!/^\w+:\/\/[^/]+:\d+/.test(url)) {
    return `"${url}" names no host and port; write it like ${EXAMPLE}.`;
  }
  if (parsed.username !== '' || parsed.password !== '' || parsed.search !== '' || parsed.hash !== '') {
    // Everybody on the machine can see the URL in the list of processes.
    return "A hub's URL holds no token; it is asked for when a session starts.";
  }
  return undefined;
}

/** Whether an address of a hub, of a dashboard or of Ray means the machine that uses it; `auto` does, too. */
export function isLoopback(address: string): boolean {
  const host = /^(?:\w+:\/\/)?(?:[^/@]*@)?(\[[^\]]*\]|[^:/?#]*)/.exec(address.trim())?.[1]?.toLowerCase() ?? '';
  const name = host.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return (
    ['', 'auto', 'local', 'localhost', '0.0.0.0', '::', '::1', '0:0:0:0:0:0:0:1'].includes(name) ||
    /^127(\.\d+){1,3}$/.test(name) ||
    /^(.*\.localhost|::ffff:127\..*)$/.test(name)
  );
}
