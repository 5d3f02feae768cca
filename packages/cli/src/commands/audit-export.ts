import { counted } from '../counted.ts'
import { defineCommand } from '../define.ts'
import { escapeText } from '../escape-text.ts'
import { openPrivateFile } from '../private-file.ts'

export const auditExport = defineCommand({
  name: 'audit export',
  summary: 'Export the audit log, to keep or verify it elsewhere',
  options: { output: { value: 'FILE', about: 'write to this new file, of mode 0600' } },
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
    await note(`Wrote ${counted(lines, 'line')} to ${escapeText(output)}.`)
  },
})
