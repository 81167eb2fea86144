/** Variables in paths of the settings. VS Code itself replaces variables only in launch.json. */

/** The values of the variables. */
export interface PathVariables {
  /** The home directory of the user. */
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder of the file or of the session. */
  readonly folder: string | undefined;
  /** All open folders, by name. */
  readonly folders: ReadonlyMap<string, string>;
}

/** The path with its variables replaced, or the reason why a variable has no value. */
export type ResolvedPath = { readonly path: string } | { readonly reason: string };

/** Replace `~` and the variables in a path. */
export function resolvedPath(text: string, variables: PathVariables): ResolvedPath {
  const reasons: string[] = [];
  const path = text
    .trim()
    .replace(/^~(?=$|[/\\])/, () => variables.home)
    .replace(/\$\{([^}]*)\}/g, (whole, name: string) => {
      const value = valueOf(name, variables);
      if (value === undefined) {
        reasons.push(reasonOf(name, whole));
      }
      return value ?? whole;
    });
  const [reason] = reasons;
  return reason === undefined ? { path } : { reason };
}

function valueOf(name: string, { home, environment, folder, folders }: PathVariables): string | undefined {
  const [, kind = name, word] = /^([^:]*):(.*)$/.exec(name) ?? [];
  switch (kind) {
    case 'userHome':
      return home;
    case 'workspaceFolder':
    case 'workspaceRoot':
      return word === undefined ? folder : folders.get(word);
    case 'env':
      return environment[word ?? ''];
    default:
      return undefined;
  }
}

function reasonOf(name: string, whole: string): string {
  if (name.startsWith('env:')) {
    return `the environment variable ${name.slice('env:'.length)} is not set`;
  }
  return name.startsWith('workspaceFolder') || name.startsWith('workspaceRoot')
    ? `there is no open folder for ${whole}`
    : `raydap.python can contain \${workspaceFolder}, \${userHome} and \${env:NAME}, but not ${whole}`;
}
