/** Tokens of hubs and clusters, each kept under the address that it belongs to. */

/** What of VS Code's SecretStorage is used. */
export interface SecretStorage {
  get(key: string): PromiseLike<string | undefined>;
  store(key: string, value: string): PromiseLike<void>;
  delete(key: string): PromiseLike<void>;
}

/** What of VS Code's Memento is used: the addresses, since a SecretStorage does not list its keys. */
export interface Memento {
  get<T>(key: string, otherwise: T): T;
  update(key: string, value: unknown): PromiseLike<void>;
}

const ADDRESSES = 'raydap.tokens';

export class Tokens {
  constructor(
    private readonly secrets: SecretStorage,
    private readonly memento: Memento,
  ) {}

  /** An empty token is one: the user has said that there is none. Undefined was never asked for. */
  async get(address: string): Promise<string | undefined> {
    return this.secrets.get(key(address));
  }

  async keep(address: string, token: string): Promise<void> {
    await this.secrets.store(key(address), token);
    await this.memento.update(ADDRESSES, [...new Set([...this.addresses(), address])]);
  }

  async forget(address: string): Promise<void> {
    await this.secrets.delete(key(address));
    const others = this.addresses().filter((other) => other !== address);
    await this.memento.update(ADDRESSES, others);
  }

  addresses(): readonly string[] {
    return this.memento.get<readonly string[]>(ADDRESSES, []);
  }
}

function key(address: string): string {
  return `raydap.token:${address}`;
}
