import assert from 'node:assert/strict';
import { test } from 'node:test';

import { compare } from '../../../src/model/comparison';
import { comparisonPage } from '../../../src/text/comparison-page';
import { evaluations } from '../example';

test('nothing of a value is taken for HTML', () => {
  const text = comparisonPage(compare('<b>&"\'', evaluations('<script>alert(1)</script>')), 'abc');
  assert.ok(!text.includes('<script'));
  assert.ok(!text.includes('<b>'));
  assert.ok(text.includes('&#60;script&#62;'));
});

test('the page allows its own style and nothing else', () => {
  const text = comparisonPage(compare('x', evaluations('1')), 'abc');
  assert.ok(text.includes(`content="default-src 'none'; style-src 'nonce-abc'"`));
  assert.ok(text.includes('<style nonce="abc">'));
});
