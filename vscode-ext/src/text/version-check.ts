/** The warning that the versions of raydap and of the extension do not work together. */

import { PROTOCOL, type Server } from '../protocol/messages';

/** A check that warns once of each mismatch. */
export class VersionCheck {
  private readonly shown = new Set<string>();

  constructor(
    private readonly extensionVersion: string,
    private readonly warn: (text: string) => void,
  ) {}

  /**
   * Warn of a mismatch. `body` is the body of the answer to `initialize`, `hub` the URL of the hub that has answered.
   */
  check(body: unknown, hub?: string): void {
    const { raydap } = (body ?? {}) as { raydap?: Partial<Server> };
    const text = mismatchText(raydap, this.extensionVersion, hub);
    if (text !== undefined && !this.shown.has(text)) {
      this.shown.add(text);
      this.warn(text);
    }
  }
}

/**
 * Return the warning; undefined if both have the same protocol. A raydap that reports none is older than this check.
 */
function mismatchText(server: Partial<Server> | undefined, extensionVersion: string, hub = ''): string | undefined {
  const protocol = server?.protocol ?? 0;
  const raydap = `raydap${server?.version === undefined ? '' : ` ${server.version}`}${hub && ` of the hub ${hub}`}`;
  if (protocol < PROTOCOL) {
    const where = hub === '' ? 'in the Python that runs it' : 'where the hub runs, and restart the hub';
    return `${raydap} is older than this extension (${extensionVersion}): run "pip install --upgrade raydap" ${where}.`;
  }
  return protocol > PROTOCOL
    ? `This extension (${extensionVersion}) is older than ${raydap}: install the extension of the same version.`
    : undefined;
}
