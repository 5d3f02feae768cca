import { defineCommand } from '../define.ts'
import { escapeLines, escapeText } from '../escape-text.ts'
import { problemLine } from '../policy-problems.ts'

export const policyShow = defineCommand({
  name: 'policy show',
  summary: 'Show the policy files and the active version',
  options: { agent: { value: 'NAME', about: 'leave out the files of other agents' } },
  examples: ['gatehouse policy show', 'gatehouse policy show --agent mailbot'],
  async run({ api }, { agent }) {
    const view = await api.showPolicies()
    const files = view.files.filter(
      (file) => agent === undefined || file.agent === null || file.agent === agent,
    )
    return { ...view, files }
  },
  text: ({ version, files, problems }) =>
    [
      `Active: ${version}`,
      ...files.map(
        ({ file, layer, text }) =>
          `# ${escapeText(file)} (${escapeText(layer)})\n${escapeLines(text).trimEnd()}`,
      ),
      ...(problems.length > 0 ? [problems.map(problemLine).join('\n')] : []),
    ].join('\n\n'),
})
