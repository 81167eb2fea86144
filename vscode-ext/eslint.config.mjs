import js from '@eslint/js';
import { defineConfig } from 'eslint/config';
import typescript from 'typescript-eslint';

/** The rooms of src: each may import only from itself and from those after it. */
const ROOMS = ['pages', 'views', 'language', 'debug', 'process', 'text', 'model', 'protocol'];
const WITH_VSCODE = ['views', 'language', 'debug'];

const directions = ROOMS.map((room, index) => ({
  files: [`src/${room}/**/*.ts`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        paths: WITH_VSCODE.includes(room) ? [] : [{ name: 'vscode', message: 'Plain Node tests this room.' }],
        patterns: ROOMS.slice(0, index).map((above) => ({
          group: [`**/${above}/**`],
          message: `${room} is below ${above}.`,
        })),
      },
    ],
  },
}));

export default defineConfig(
  { ignores: ['node_modules', 'dist', 'out'] },
  js.configs.recommended,
  { files: ['**/*.mjs'], languageOptions: { globals: { process: 'readonly' } } },
  {
    files: ['**/*.ts'],
    extends: [typescript.configs.strictTypeChecked, typescript.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
    },
  },
  ...directions,
  {
    // node:test collects what `test` returns by itself.
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [
            { from: 'package', name: ['test', 'suite', 'describe', 'it'], package: 'node:test' },
          ],
        },
      ],
    },
  },
);
