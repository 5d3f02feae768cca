import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { markedText, problemLine } from '../policy-problems.ts'

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
  text: ({ version, files, problems }) => {
    const others = problems.filter(({ file }) => !files.some((shown) => shown.file === file))
    return [
      `Active: ${version}`,
      ...files.map(({ file, layer, text }) => {
        const about = problems.filter((problem) => problem.file === file)
        return `# ${escapeText(file)} (${escapeText(layer)})\n${markedText(text, about)}`
      }),
      ...(others.length > 0 ? [others.map(problemLine).join('\n')] : []),
    ].join('\n\n')
  },
})
