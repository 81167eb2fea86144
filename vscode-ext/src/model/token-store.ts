/** Tokens of hubs and clusters, each stored under the address that it belongs to. */

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
  ) {}

  /** Undefined if the user has never been asked; empty if the user has said that there is no token. */
  async get(address: string): Promise<string | undefined> {
    return this.secrets.get(key(address));
  }

  async store(address: string, token: string): Promise<void> {
    await this.secrets.store(key(address), token);
    await this.memento.update(ADDRESSES_KEY, [...new Set([...this.addresses(), address])]);
  }

  async forget(address: string): Promise<void> {
    await this.secrets.delete(key(address));
    const others = this.addresses().filter((other) => other !== address);
    await this.memento.update(ADDRESSES_KEY, others);
  }

  addresses(): readonly string[] {
    return this.memento.get<readonly string[]>(ADDRESSES_KEY, []);
  }
}

function key(address: string): string {
  return `raydap.token:${address}`;
}
