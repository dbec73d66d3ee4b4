import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderTemplate } from '../../../../../src/tasks/node/cloud-config/jinja.ts';

const values = { ds: { meta_data: { local_hostname: 'cp1', local_ipv4: '10.0.0.11' } }, v1: { instance_id: 'i-1' } };
const render = (template: string) => renderTemplate(template, values);

describe('the template of bootstrap data', () => {
  // What jinja 3.1.6 makes of them with cloud-init's settings (trim_blocks, the last line end kept).
  it.each([
    ['name: {{ ds.meta_data.local_hostname }}\n', 'name: cp1\n'],
    ['{{ds.meta_data.local_hostname}}-{{   v1.instance_id\n}}\n\n', 'cp1-i-1\n\n'],
    ['a {% raw %}\n{{ x }}\n{% endraw %}\nb\n', 'a \n{{ x }}\nb\n'],
    ['a {% raw %} {# {% endraw %} b', 'a  {#  b'],
    ['{% raw %}{% raw %}{% endraw %}x', '{% raw %}x'],
    ['{%raw%}a{%endraw%}\n\nb', 'a\nb'],
    ['last {% raw %}x{% endraw %}\n', 'last x\n'],
    ['}} %} #} { { $(a) ok', '}} %} #} { { $(a) ok'],
  ])('makes of %j what cloud-init makes of it', (template, text) => {
    expect(render(template)).toEqual({ text });
  });

  it.each([
    ["{{ ds['meta_data']['local_hostname'] }}", 'an expression of the template'],
    ['{{ ds.meta_data.local_hostname | upper }}', 'an expression of the template'],
    ['{{{ds.meta_data.local_hostname}}}', 'an expression of the template'],
    ['{{- ds.meta_data.local_hostname }}', 'an expression of the template'],
    ['{{ .Values.secret }}', 'an expression of the template'],
    ['{{ ds.meta_data.local_hostname', 'an expression of the template'],
    ['{{ v1.region }}', '{{ v1.region }}: bke has no value of this name'],
    ['{{ v1.instance_id.x }}', 'bke has no value of this name'],
    ['{{ ds.meta_data.constructor }}', 'bke has no value of this name'],
    ['{{ v1.__proto__ }}', 'bke has no value of this name'],
    ['{{ ds.meta_data }}', 'values below ds.meta_data and v1 only'],
    ['{{ instance_id }}', 'values below ds.meta_data and v1 only'],
    ['{% if true %}x{% endif %}', 'a statement of the template'],
    ['{% raw %}never closed', 'a statement of the template'],
    ['{%- raw -%}x{% endraw %}', 'a statement of the template'],
    ['length={#list}', 'a comment of the template'],
  ])('refuses %j', (template, message) => {
    const result = render(`first\n  ${template}`);
    expect(result).toEqual({
      problems: expect.arrayContaining([
        { line: 2, column: template.startsWith('length') ? 10 : 3, message: expect.stringContaining(message) },
      ]),
    });
  });

  it('tells every place at once', () => {
    const result = render('{{ a }}\nok\n{{ b | c }} {% d %}');
    expect('problems' in result ? result.problems.map(({ line, column }) => [line, column]) : []).toEqual([
      [1, 1],
      [3, 1],
      [3, 13],
    ]);
  });

  it('never fails, and changes nothing of a text without templates', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('{', '}', '%', '#', ' ', 'v1.x', '\n', 'raw', 'endraw', 'a') }),
        (text) => {
          const result = render(text);
          if (!/\{[{%#]/.test(text)) expect(result).toEqual({ text });
          else expect(Object.keys(result)).toHaveLength(1);
        },
      ),
    );
  });
});
