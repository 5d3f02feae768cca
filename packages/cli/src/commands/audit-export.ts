import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { openPrivateFile } from '../private-file.ts'

export const auditExport = defineCommand({
  name: 'audit export',
  summary: 'Write the whole log out, to keep or verify elsewhere',
  options: { output: { value: 'FILE', about: 'a new file of mode 0600 instead of the output' } },
  examples: [
    'gatehouse audit export --output audit.jsonl',
    'gatehouse audit export | gzip > audit.jsonl.gz',
  ],
  async run({ api, io, note }, { output }) {
    if (output === undefined) {
      // A terminal gets hidden characters as escapes; a file or pipe gets the bytes as they are.
      for await (const line of api.exportAudit())
        await io.stdout.write(`${io.stdout.isTTY ? escapeText(line) : line}\n`)
      return
    }
    const file = await openPrivateFile(output)
    let lines = 0
    try {
      for await (const line of api.exportAudit()) {
        await file.write(`${line}\n`)
        lines += 1
      }
      await file.finish()
    } catch (error) {
      await file.discard()
      throw error
    }
    await note(`${lines} lines are in ${escapeText(output)}.`)
  },
})
