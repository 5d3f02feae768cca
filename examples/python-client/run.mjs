import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startService } from '../mend-and-push/service.mjs'

const folder = mkdtempSync(join(tmpdir(), 'gatehouse-example-'))
let service = null

/** Decides on what is asked while the agent runs: old notes may go, kept ones not, and the rest can wait. */
const decide = async () => {
  const { approvals } = await service.cli('approvals', 'list')
  for (const { id, preview } of approvals) {
    if (preview.text.includes('old.txt')) await service.cli('approvals', 'approve', id)
    else if (preview.text.includes('kept.txt'))
      await service.cli('approvals', 'reject', id, '--reason', 'not this one')
  }
}

try {
  service = await startService(join(folder, 'data'), [])
  const tokenFile = join(folder, 'notes.token')
  await service.cli('agent', 'create', 'notes', '--token-file', tokenFile)
  const story = fileURLToPath(new URL('story.py', import.meta.url))
  const agent = spawn('python3', ['-B', story, service.gateway_url, tokenFile], {
    stdio: 'inherit',
  })
  const exited = once(agent, 'exit')
  while (agent.exitCode === null && agent.signalCode === null) {
    await decide()
    await Promise.race([exited, pause(300)])
  }
  process.exitCode = agent.exitCode ?? 1
} finally {
  await service?.stop()
  rmSync(folder, { recursive: true, force: true })
}
