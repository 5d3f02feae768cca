import { code, generatedNote, table } from './markdown.mjs'

const rpcWords = (rpc) => (rpc === null ? 'a result with `success: false`' : code(rpc))

const stepsUnder = (title, recovery) =>
  `\n\n${title}\n\n${recovery.map(({ action, description }) => `- ${code(action)}: ${description}`).join('\n')}`

const section = ([type, { http, rpc, retry, say, recovery, people }]) => {
  const facts = table(
    ['REST status', 'JSON-RPC', 'Same request may succeed later'],
    [[http, rpcWords(rpc), retry ? 'yes' : 'no']],
  )
  const next = stepsUnder('What to do next:', recovery)
  const others = people === recovery ? '' : stepsUnder('What a person does:', people)
  return `## ${type}\n\n> ${say}\n\n${facts}${next}${others}`
}

export const errors = {
  file: 'docs/reference/errors.md',
  async render() {
    const { errorTable } = await import('../../packages/contract/dist/errors.js')
    const entries = Object.entries(errorTable).toSorted(([a], [b]) => a.localeCompare(b, 'en'))
    return `${generatedNote('packages/contract/src/errors.ts')}
# Errors

Every failure has a type, one sentence and, where something can be done about it, recovery steps.
Words in braces are filled in. A failure of a capability reaches an agent as a result that it can act
on; failures of the protocol, of policy and of limits are JSON-RPC errors. Over REST the type is the
\`code\` of a problem document.

${entries.map(section).join('\n\n')}
`
  },
}
