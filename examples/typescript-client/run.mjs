import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { startService } from '../mend-and-push/service.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'gatehouse-example-'))
const project = join(folder, 'agent')
let service = null

/** An empty project, in which the package is installed as it would be published. */
const install = () => {
  const run = (cwd, command, ...args) => execFileSync(command, args, { cwd, encoding: 'utf8' })
  mkdirSync(project)
  writeFileSync(join(project, 'package.json'), '{ "type": "module" }')
  const client = join(root, 'packages/client')
  const [{ filename }] = JSON.parse(
    run(client, 'npm', 'pack', '--json', '--pack-destination', folder),
  )
  run(project, 'npm', 'install', '--offline', join(folder, filename))
  copyFileSync(new URL('story.ts', import.meta.url), join(project, 'story.ts'))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const strict = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false']
  const target = ['--module', 'nodenext', '--target', 'es2023', '--lib', 'es2023,esnext.disposable']
  const types = ['--typeRoots', join(root, 'node_modules/@types'), '--types', 'node']
  run(project, process.execPath, tsc, ...strict, ...target, ...types, 'story.ts')
}

/** Decides on what is asked while the agent runs: old notes may go, kept ones not, and the rest can wait. */
const decide = async () => {
  const { approvals } = await service.cli('approvals', 'list')
  for (const { id, preview } of approvals) {
    if (preview.text.includes('old.txt')) await service.cli('approvals', 'approve', id)
    else if (preview.text.includes('kept.txt'))
      await service.cli('approvals', 'reject', id, '--reason', 'not this one')
  }
}

const tell = async (transport) => {
  const tokenFile = join(folder, `${transport}.token`)
  await service.cli('agent', 'create', `notes-${transport}`, '--token-file', tokenFile)
  console.log(`over ${transport}:`)
  const story = [join(project, 'story.js'), service.gateway_url, tokenFile, transport]
  const agent = spawn(process.execPath, story, { stdio: 'inherit' })
  const exited = once(agent, 'exit')
  while (agent.exitCode === null && agent.signalCode === null) {
    await decide()
    await Promise.race([exited, pause(300)])
  }
  if (agent.exitCode !== 0) process.exitCode = 1
}

try {
  install()
  service = await startService(join(folder, 'data'), [])
  for (const transport of ['http', 'websocket']) await tell(transport)
} catch (error) {
  console.error(error.stdout ?? '', error)
  process.exitCode = 1
} finally {
  await service?.stop()
  rmSync(folder, { recursive: true, force: true })
}
