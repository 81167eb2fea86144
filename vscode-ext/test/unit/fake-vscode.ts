/** The part of VS Code's API that the unit tests need. `esbuild.mjs` replaces the real API with it. */

type Listener = (value: never) => unknown;

export class EventEmitter {
  private readonly listeners = new Set<Listener>();
  readonly event = (listener: Listener): Disposable => {
    this.listeners.add(listener);
    return new Disposable(() => this.listeners.delete(listener));
  };

  fire(value: unknown): void {
    this.listeners.forEach((listener) => listener(value as never));
  }

  dispose(): void {
    this.listeners.clear();
  }
}

export class Disposable {
  constructor(private readonly run: () => unknown) {}

  static from(...all: readonly { dispose(): unknown }[]): Disposable {
    return new Disposable(() => {
      all.forEach((each) => each.dispose());
    });
  }

  dispose(): void {
    this.run();
  }
}

class Uri {
  constructor(readonly fsPath: string) {}

  static file(path: string): Uri {
    return new Uri(path);
  }

  static from({ path }: { readonly path: string }): Uri {
    return new Uri(path);
  }

  static parse(text: string): Uri {
    return new Uri(text);
  }

  static joinPath(uri: Uri, ...parts: readonly string[]): Uri {
    return new Uri([uri.fsPath, ...parts].join('/'));
  }

  toString(): string {
    return this.fsPath;
  }
}

class TreeItem {
  constructor(
    readonly label: string,
    readonly collapsibleState = 0,
  ) {}
}

class ThemeIcon {
  constructor(readonly id: string) {}
}

class ThemeColor extends ThemeIcon {}

export class Position {
  constructor(
    readonly line: number,
    readonly character: number,
  ) {}
}

export class Range {
  constructor(
    readonly start: Position,
    readonly end: Position,
  ) {}
}

export class FileDecoration {
  constructor(readonly badge?: string) {}
}

export class TerminalProfile {
  constructor(readonly options: object) {}
}

class MarkdownString {
  constructor(public value = '') {}

  appendText(text: string): this {
    this.value += text;
    return this;
  }

  appendMarkdown(text: string): this {
    return this.appendText(text);
  }
}

export { MarkdownString, ThemeColor, ThemeIcon, TreeItem, Uri };

export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 };
export const ViewColumn = { Active: -1, Beside: -2, One: 1 };
export const LanguageStatusSeverity = { Information: 0, Warning: 1 };
export const StatusBarAlignment = { Left: 1, Right: 2 };
export const ProgressLocation = { Notification: 15 };
export const ConfigurationTarget = { Global: 1, Workspace: 2 };

/** The messages and questions that were shown, oldest first, such as `warning: 1 of 2 threads reached another line.` */
export const seen: string[] = [];

/** The configurations that were started, oldest first. */
export const started: object[] = [];

/** The user's answers to the next questions, in order. A function is called with the arguments of the question. */
export const answers: unknown[] = [];

export const events = {
  activeStackItem: new EventEmitter(),
  activeSession: new EventEmitter(),
  started: new EventEmitter(),
  terminated: new EventEmitter(),
  custom: new EventEmitter(),
  taskEnded: new EventEmitter(),
  opened: new EventEmitter(),
  saved: new EventEmitter(),
  windowState: new EventEmitter(),
  settings: new EventEmitter(),
};

function asking(kind: string): (...words: readonly unknown[]) => Promise<unknown> {
  return (...words) => {
    seen.push(`${kind}: ${textOf(words)}`);
    const answer = answers.shift();
    return Promise.resolve(
      typeof answer === 'function' ? (answer as (...all: unknown[]) => unknown)(...words) : answer,
    );
  };
}

function textOf([first, second]: readonly unknown[]): string {
  const title = (first as { title?: string } | undefined)?.title ?? (second as { title?: string } | undefined)?.title;
  return typeof first === 'string' ? first : (title ?? '');
}

export interface FakePanel {
  title: string;
  visible: boolean;
  readonly webview: {
    html: string;
    readonly posted: unknown[];
    postMessage(message: unknown): Promise<boolean>;
    asWebviewUri(uri: Uri): Uri;
    readonly onDidReceiveMessage: EventEmitter['event'];
  };
  readonly messages: EventEmitter;
  readonly disposed: EventEmitter;
  readonly viewState: EventEmitter;
}

/** The opened webviews, oldest first. */
export const panels: FakePanel[] = [];

function createWebviewPanel(): object {
  const [messages, disposed, viewState] = [new EventEmitter(), new EventEmitter(), new EventEmitter()] as const;
  const posted: unknown[] = [];
  const panel = {
    title: '',
    visible: true,
    messages,
    webview: {
      html: '',
      posted,
      postMessage: (message: unknown) => Promise.resolve(posted.push(message) > 0),
      asWebviewUri: (uri: Uri) => uri,
      onDidReceiveMessage: messages.event,
    },
    reveal: () => undefined,
    dispose: () => undefined,
    disposed,
    viewState,
    onDidDispose: disposed.event,
    onDidChangeViewState: viewState.event,
  };
  panels.push(panel);
  return panel;
}

/** Fires when the user presses *Cancel* in a notification with progress. */
export const cancellation = new EventEmitter();

export const window = {
  activeTextEditor: undefined,
  showInformationMessage: asking('information'),
  showWarningMessage: asking('warning'),
  showErrorMessage: asking('error'),
  showQuickPick: asking('pick'),
  showInputBox: asking('input'),
  setStatusBarMessage: (text: string): Disposable => {
    seen.push(`status: ${text}`);
    return new Disposable(() => undefined);
  },
  withProgress: (options: { title: string }, run: (progress: object, token: object) => unknown): unknown => {
    seen.push(`progress: ${options.title}`);
    const token = { isCancellationRequested: false, onCancellationRequested: cancellation.event };
    cancellation.event(() => (token.isCancellationRequested = true));
    return run({ report: () => undefined }, token);
  },
  createTreeView: (): object => ({
    visible: true,
    onDidChangeVisibility: new EventEmitter().event,
    message: '',
    dispose: () => undefined,
  }),
  createOutputChannel: () => ({
    info: (text: string) => seen.push(`log: ${text}`),
    warn: (text: string) => seen.push(`log: ${text}`),
    dispose: () => undefined,
  }),
  createStatusBarItem: (): object => ({ text: '', show: () => undefined, hide: () => undefined }),
  createTextEditorDecorationType: (): Disposable => new Disposable(() => undefined),
  onDidChangeVisibleTextEditors: new EventEmitter().event,
  visibleTextEditors: [] as object[],
  state: { focused: true },
  onDidChangeWindowState: events.windowState.event,
  createWebviewPanel,
  terminals: [] as object[],
  createTerminal: (options: string | { name: string }): object => {
    const name = typeof options === 'string' ? options : options.name;
    return {
      name,
      show: () => seen.push(`terminal: ${name}`),
      sendText: (text: string, isRun = true) => seen.push(`${isRun ? 'run' : 'type'} in ${name}: ${text}`),
    };
  },
  showTextDocument: (uri: Uri) => Promise.resolve(seen.push(`document: ${uri.toString()}`)),
};

/** An enabled breakpoint in the line after `line`. */
export class SourceBreakpoint {
  readonly enabled = true;
  readonly location: object;

  constructor(path: string, line: number) {
    this.location = { uri: Uri.file(path), range: new Range(new Position(line, 0), new Position(line, 0)) };
  }
}

export const debug = {
  breakpoints: [] as SourceBreakpoint[],
  activeStackItem: undefined as unknown,
  activeDebugSession: undefined as unknown,
  activeDebugConsole: { appendLine: (text: string) => void seen.push(`console: ${text}`) },
  onDidChangeActiveStackItem: events.activeStackItem.event,
  onDidChangeActiveDebugSession: events.activeSession.event,
  onDidStartDebugSession: events.started.event,
  onDidTerminateDebugSession: events.terminated.event,
  onDidReceiveDebugSessionCustomEvent: events.custom.event,
  asDebugSourceUri: ({ path }: { readonly path: string }): Uri => new Uri(path),
  startDebugging: (
    _folder: unknown,
    configuration: { name: string; noDebug?: boolean },
    options: { noDebug?: boolean } = {},
  ): Promise<boolean> => {
    started.push(configuration);
    const isRun = configuration.noDebug === true || options.noDebug === true;
    seen.push(`start: ${configuration.name}${isRun ? ' without debugging' : ''}`);
    return Promise.resolve(true);
  },
  stopDebugging: ({ name }: { name: string }): Promise<void> => Promise.resolve(void seen.push(`stop: ${name}`)),
};

export const commands = {
  executeCommand: (name: string, key?: string, value?: unknown): Promise<undefined> => {
    if (name === 'setContext') {
      contexts[key ?? ''] = value;
    } else {
      executed.push([name, key].filter((word) => word !== undefined).join(' '));
    }
    return Promise.resolve(undefined);
  },
};

/** The commands that were executed, with their first argument, oldest first. */
export const executed: string[] = [];

/** The context keys that have been set. */
export const contexts: Record<string, unknown> = {};

/** The settings, by their names without "raydap.". */
export const settings: Record<string, unknown> = {};

export const workspace = {
  workspaceFolders: undefined as unknown,
  getConfiguration: () => ({
    get: (key: string, otherwise: unknown) => settings[key] ?? otherwise,
    update: (key: string, value: unknown) => Promise.resolve((settings[key] = value)),
  }),
  textDocuments: [] as object[],
  getWorkspaceFolder: (): unknown => undefined,
  onDidOpenTextDocument: events.opened.event,
  onDidSaveTextDocument: events.saved.event,
  onDidChangeConfiguration: events.settings.event,
  registerTextDocumentContentProvider: () => new Disposable(() => undefined),
  onDidCloseTextDocument: new EventEmitter().event,
};

export const TaskScope = { Workspace: 2 };

export class Task {
  constructor(
    readonly definition: object,
    readonly scope: number,
    readonly name: string,
    readonly source: string,
    readonly execution: ProcessExecution,
  ) {}
}

export class ProcessExecution {
  constructor(
    readonly process: string,
    readonly args: readonly string[],
  ) {}
}

/** The tasks. A test may replace `executeTask`. */
export const tasks = {
  onDidEndTaskProcess: events.taskEnded.event,
  executeTask: (task: Task): Promise<unknown> => Promise.resolve({ task }),
};

export const languages = {
  createLanguageStatusItem: () => ({ name: '', text: '', detail: '', dispose: () => undefined }),
  registerDocumentLinkProvider: () => new Disposable(() => undefined),
};

export class McpStdioServerDefinition {
  cwd?: unknown;

  constructor(
    readonly label: string,
    public command: string,
    public args: string[],
    readonly env: object,
    readonly version: string,
  ) {}
}

/** The language models. A test may remove the function, which older versions of VS Code do not have. */
export const lm: { registerMcpServerDefinitionProvider?: (id: string, provider: unknown) => Disposable } = {};

export const extensions = {
  getExtension: (): unknown => undefined,
};

export const env = {
  remoteName: undefined as string | undefined,
  clipboard: { writeText: (text: string) => Promise.resolve(void seen.push(`clipboard: ${text}`)) },
};

/** Restore the state before the first test. */
export function resetVscode(): void {
  [seen, answers, panels, started, executed, debug.breakpoints].forEach((each) => (each.length = 0));
  Object.assign(debug, { activeStackItem: undefined, activeDebugSession: undefined });
  Object.keys(settings).forEach((key) => Reflect.deleteProperty(settings, key));
  Object.assign(workspace, { workspaceFolders: undefined, getWorkspaceFolder: () => undefined, textDocuments: [] });
  cancellation.dispose();
}
