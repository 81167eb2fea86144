/**
 * Tokens of hubs and clusters, each stored under the address that it belongs to. All machines that VS Code connects to
 * share one secret storage, and a loopback address refers to a different hub on each of them. The token of a loopback
 * address is therefore stored under the address and the place: the machine and the folder.
 */

import { isLoopback } from './hub-url';

/** The part of VS Code's SecretStorage that is used. */
export interface SecretStorage {
  get(key: string): PromiseLike<string | undefined>;
  store(key: string, value: string): PromiseLike<void>;
  delete(key: string): PromiseLike<void>;
}

/** The part of VS Code's Memento that is used. */
export interface Memento {
  get<T>(key: string, otherwise: T): T;
  update(key: string, value: unknown): PromiseLike<void>;
}

/** The key of the list of addresses, which is needed because a SecretStorage does not list its keys. */
const ADDRESSES_KEY = 'raydap.tokens';

/** The stored tokens. */
export class TokenStore {
  constructor(
    private readonly secrets: SecretStorage,
    private readonly memento: Memento,
    /** The machine and the folder of this window. */
    private readonly place: string,
  ) {}

  /** Return the token for an address: undefined if the user was never asked, empty if the user entered none. */
  async get(address: string): Promise<string | undefined> {
    return this.secrets.get(key(this.nameOf(address)));
  }

  async store(address: string, token: string): Promise<void> {
    const name = this.nameOf(address);
    await this.secrets.store(key(name), token);
    await this.memento.update(ADDRESSES_KEY, [...new Set([...this.names(), name])]);
  }

  /** Delete a token. `name` is one of `names`, or an address. */
  async forget(name: string): Promise<void> {
    const all = [name, this.nameOf(name)];
    for (const each of all) {
      await this.secrets.delete(key(each));
    }
    await this.memento.update(
      ADDRESSES_KEY,
      this.names().filter((other) => !all.includes(other)),
    );
  }

  /** Return the addresses for which tokens are stored; a loopback address is followed by its place. */
  names(): readonly string[] {
    return this.memento.get<readonly string[]>(ADDRESSES_KEY, []);
  }

  private nameOf(address: string): string {
    return isLoopback(address) ? `${address} (${this.place})` : address;
  }
}

function key(name: string): string {
  return `raydap.token:${name}`;
}
