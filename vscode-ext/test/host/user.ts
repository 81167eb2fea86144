/** A simulated user. The extension and its tests share one `vscode.window`, so a test can answer the extension. */

import assert from 'node:assert/strict';

import * as vscode from 'vscode';

/** An answer to one question: the text of an input box, or the label of a choice or of a button. */
export type Answer =
  | { readonly asked: 'showInputBox' | 'showQuickPick'; readonly about: RegExp; readonly answer: string | undefined }
  | { readonly asked: 'showErrorMessage'; readonly about: RegExp; readonly answer: string };

type Ask = Answer['asked'];

const ASKS: readonly Ask[] = ['showInputBox', 'showQuickPick', 'showErrorMessage'];

/** Run `body`. Fail unless the extension asks exactly these questions, in this order. */
export async function answering<T>(answers: readonly Answer[], body: () => Promise<T>): Promise<T> {
  const window = vscode.window as unknown as Record<Ask, (...words: unknown[]) => Promise<unknown>>;
  const before = ASKS.map((asked) => [asked, window[asked]]);
  const left = [...answers];
  const surprises: string[] = [];
  for (const asked of ASKS) {
    window[asked] = async (...words) => {
      const text = JSON.stringify(words);
      const next = left.shift();
      if (next?.asked !== asked || !next.about.test(text)) {
        surprises.push(`${asked} ${text}`);
        return Promise.resolve(undefined);
      }
      return Promise.resolve(asked === 'showErrorMessage' ? button(words, next.answer) : next.answer);
    };
  }
  try {
    const result = await body();
    assert.deepEqual({ surprises, left }, { surprises: [], left: [] });
    return result;
  } finally {
    Object.assign(window, Object.fromEntries(before));
  }
}

function button(words: readonly unknown[], title: string | undefined): unknown {
  return words.find((word) => (word as { title?: string }).title === title);
}
