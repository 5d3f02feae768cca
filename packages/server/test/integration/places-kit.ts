import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createKit, type Kit, type KitOptions } from '@gatehouse/testkit'
import { z } from 'zod'
import { defineCapability } from '../../src/capabilities/define.ts'
import { readAttachments } from '../../src/capabilities/email/attach.ts'
import { pathArguments } from '../../src/capabilities/path-argument.ts'
import type { Outbound } from '../../src/ports/outbound.ts'
import { giveBack, plainGit } from '../git/kit.ts'

export const canary = 'CANARY-of-the-blocked-folder'

/** Everything is free but what lies in `secret`, whatever argument leads there. */
export const blocksSecret = `version: 1
rules:
${['path', 'source', 'destination', 'root', 'working_directory']
  .map(
    (name) =>
      `  - { match: "*", when: 'has(args.${name}) && args.${name}.startsWith("secret")', tier: blocked, floor: true }`,
  )
  .join('\n')}
  - { match: "*", when: 'has(args.attachments) && args.attachments.exists(a, a.startsWith("secret"))', tier: blocked, floor: true }
  - { match: "*", tier: autonomous }
limits:
${['filesystem', 'git', 'process', 'network', 'mailing']
  .map((group) => `  - { match: "${group}.*", limit: 100000, window: 1m }`)
  .join('\n')}
`

/** Attachments as the mail capabilities handle them, without a mail server. */
const attach = defineCapability({
  name: 'mailing.attach',
  title: 'Read attachments',
  version: '1.0',
  purpose: 'Read attachments.',
  when_to_use: 'In tests.',
  inputs: z.strictObject({
    attachments: z.array(z.string().max(4096).register(pathArguments, {})),
  }),
  outputs: z.object({ texts: z.array(z.string()) }),
  tier: 'autonomous',
  effect: 'immediate',
  errors: [],
  run: async (ctx, { attachments }) => {
    const files = await readAttachments(ctx.files, attachments)
    return { texts: files.map(({ bytes }) => Buffer.from(bytes).toString()) }
  },
})

/** Answers every request with a few bytes. */
const answers: Outbound = {
  request: async ({ url }: { readonly url: string }) => ({
    status: 200,
    headers: {},
    url,
    body: (async function* () {
      yield Buffer.from('downloaded')
    })(),
    [Symbol.asyncDispose]: async () => {},
  }),
  lookup: async () => [],
  connect: async () => ({ open: false, latency_ms: 0 }),
  openEgress: () => Promise.reject(new Error('no way out')),
} as unknown as Outbound

/** A service with real files, git and sandbox, and what somebody else does between a decision and its act. */
export class PlacesKit implements AsyncDisposable {
  readonly kit: Kit
  readonly root: string
  readonly #hook: { between: () => void }

  private constructor(kit: Kit, hook: { between: () => void }) {
    this.kit = kit
    this.root = kit.workspace('alpha')
    this.#hook = hook
  }

  static async open(
    policy = blocksSecret,
    options: Omit<KitOptions, 'policy' | 'sandbox' | 'capabilities'> = {},
  ): Promise<PlacesKit> {
    const hook = { between: () => {} }
    const kit = await createKit({
      outbound: answers,
      ...options,
      policy,
      capabilities: [attach],
      // Limits are counted after the decision and before the act.
      storage: (memory) => ({
        ...memory,
        limits: {
          ...memory.limits,
          take: async (keys, now) => {
            hook.between()
            return memory.limits.take(keys, now)
          },
        },
      }),
      sandbox: 'real',
    })
    await kit.agent('alpha')
    return new PlacesKit(kit, hook)
  }

  /** Done once, after the next decision. */
  between(step: () => void): void {
    this.#hook.between = () => {
      this.#hook.between = () => {}
      step()
    }
  }

  at(...names: string[]): string {
    return join(this.root, ...names)
  }

  put(name: string, content: string): void {
    mkdirSync(dirname(this.at(name)), { recursive: true })
    writeFileSync(this.at(name), content)
    giveBack(this.at(...name.split('/').slice(0, 1)))
  }

  git(name: string, ...args: string[]): string {
    return plainGit(this.at(name), ...args)
  }

  repository(name: string): void {
    mkdirSync(this.at(name), { recursive: true })
    this.git(name, 'init', '--quiet', '--initial-branch=main')
    this.git(name, 'add', '-A')
    this.git(name, 'commit', '--quiet', '--allow-empty', '-m', 'First')
  }

  /** The names and contents below a folder, but for what git keeps. */
  below(name: string): Record<string, string> {
    const found: Record<string, string> = {}
    for (const entry of readdirSync(this.at(name), { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name)
      if (entry.isFile() && !path.includes('/.git/')) found[path] = readFileSync(path, 'utf8')
      else if (!path.includes('/.git')) found[path] = 'a folder'
    }
    return found
  }

  call(capability: string, args: object) {
    return this.kit.invoke('alpha', capability, args)
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kit[Symbol.asyncDispose]()
  }
}
