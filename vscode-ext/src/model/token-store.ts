/**
 * Tokens of hubs and clusters, each stored under the address that it belongs to. The secret storage is the same for all
 * machines that VS Code is connected to, and a loopback address means another hub on each of them. A token of such an
 * address is stored with the place, too: the machine and the folder.
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

/** A SecretStorage does not list its keys, so the addresses are stored here. */
const ADDRESSES_KEY = 'raydap.tokens';

export class TokenStore {
  constructor(
    private readonly secrets: SecretStorage,
    private readonly memento: Memento,
    /** Where the extension runs. */
    private readonly place: string,
  ) {}

  /** Undefined if the user has never been asked; empty if the user has said that there is no token. */
  async get(address: string): Promise<string | undefined> {
    return this.secrets.get(key(this.nameOf(address)));
  }

  async store(address: string, token: string): Promise<void> {
    const name = this.nameOf(address);
    await this.secrets.store(key(name), token);
    await this.memento.update(ADDRESSES_KEY, [...new Set([...this.names(), name])]);
  }

  /** Takes a name of `names`, or an address. */
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

  /** The addresses for which tokens are stored, some with their place. */
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
