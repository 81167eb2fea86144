/** URLs of hubs, in the form that `raydap connect` accepts. */

const SCHEMES = ['ws:', 'wss:', 'tcp:', 'tcps:'];

export const EXAMPLE = 'ws://127.0.0.1:4711/dap';

export function isHubUrl(address: string): boolean {
  return /^(wss?|tcps?):/i.test(address);
}

/** Return a sentence that explains why this is not the URL of a hub; undefined if it is one. */
export function hubUrlError(url: string): string | undefined {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return `"${url}" is not the URL of a hub. Write the URL like ${EXAMPLE}.`;
  }
  if (!SCHEMES.includes(parsed.protocol)) {
    return `A hub's URL begins with ws://, wss://, tcp:// or tcps://, not with ${parsed.protocol}//.`;
  }
  // Check the text, because `parsed.port` is empty if the URL contains the default port of its scheme.
  if (!/^\w+:\/\/[^/]+:\d+/.test(url)) {
    return `"${url}" has no host and port. Write the URL like ${EXAMPLE}.`;
  }
  if (parsed.username !== '' || parsed.password !== '' || parsed.search !== '' || parsed.hash !== '') {
    // Other users of the machine can see the URL in the list of processes.
    return 'The URL of a hub must not contain a token. VS Code asks for the token when a session starts.';
  }
  return undefined;
}

/** Return whether an address of a hub, a dashboard or Ray refers to the machine that uses it. `auto` does, too. */
export function isLoopback(address: string): boolean {
  const host = /^(?:\w+:\/\/)?(?:[^/@]*@)?(\[[^\]]*\]|[^:/?#]*)/.exec(address.trim())?.[1]?.toLowerCase() ?? '';
  const name = host.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  return (
    ['', 'auto', 'local', 'localhost', '0.0.0.0', '::', '::1', '0:0:0:0:0:0:0:1'].includes(name) ||
    /^127(\.\d+){1,3}$/.test(name) ||
    /^(.*\.localhost|::ffff:127\..*)$/.test(name)
  );
}
