/** Replaces the variables in a path of the settings: VS Code does that for launch.json only. */

export interface PathVariables {
  readonly home: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The folder of the file or of the session. */
  readonly folder: string | undefined;
  /** All open folders, by their names. */
  readonly folders: ReadonlyMap<string, string>;
}

/** The path without variables, or the reason why a variable has no value. */
export type ResolvedPath = { readonly path: string } | { readonly reason: string };

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
    : `raydap.python takes \${workspaceFolder}, \${userHome} and \${env:NAME}, not ${whole}`;
}
