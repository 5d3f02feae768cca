import { fstatSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'
import type { PinnedFolder } from '../ports/files.ts'
import type { Egress } from '../ports/outbound.ts'
import type { ProcessRequest, ProcessSetting, ProcessSite } from '../ports/processes.ts'
import type { SandboxMount, SandboxSpec } from '../ports/sandbox.ts'
import { type Copies, makeCopies } from './copies.ts'
import type { Plan } from './plan.ts'
import { isWritable, siteRoots } from './site-roots.ts'
import { stale } from './stale.ts'

/** Where copies of approved programs and scripts are seen inside. */
export const copiesInside = '/run/gatehouse/approved'

export type OpenedSpec = AsyncDisposable & {
  readonly spec: SandboxSpec
  /** Hosts that the program was not let through to, as `host:port`. */
  refused(): readonly string[]
  /** Once it runs, descriptors that only its start needed are closed. */
  started(): void
}

type Given = {
  readonly site: ProcessSite
  readonly request: ProcessRequest
  readonly plan: Plan
  readonly setting: ProcessSetting
  readonly copies: string
  readonly openEgress: (hosts: readonly string[]) => Promise<Egress>
}

type Opened = { readonly pins: PinnedFolder[]; copies: Copies | null; egress: Egress | null }

const mountOf = (pin: { readonly fd: number; readonly path: string }, writable: boolean) => ({
  source: `/proc/self/fd/${pin.fd}`,
  target: pin.path,
  writable,
})

/**
 * The folders of the agent, each held open; one that is not there now is left out.
 * @SECURITY One inside another keeps its rules by the path through that one as well; open-spec.test.ts.
 */
const mountRoots = (site: ProcessSite, pins: PinnedFolder[]): SandboxMount[] => {
  const mounts = new Map<string, SandboxMount>()
  for (const { path, read_only } of siteRoots(site))
    try {
      const pin = site.files.pin(path, { writable: !read_only })
      pins.push(pin)
      for (const inner of pin.inner) mounts.set(inner.path, mountOf(inner, !inner.read_only))
      mounts.set(path, mountOf({ fd: pin.fd, path }, !read_only))
    } catch (error) {
      const isMissing = error instanceof GatehouseError && error.type === 'FileNotFound'
      if (!isMissing || path === site.workspace) throw error
    }
  return [...mounts.values()]
}

/**
 * The working folder as a mount of its own: the very folder that was looked at, wherever its path leads by now.
 * @SECURITY A folder on the way that is swapped for a link changes nothing (open-spec.test.ts).
 */
const workingFolder = (site: ProcessSite, plan: Plan, pins: PinnedFolder[]): SandboxMount[] => {
  const { path, dev, ino } = plan.facts.working_directory
  const writable = isWritable(site, path)
  const pin = site.files.pin(path, { writable })
  pins.push(pin)
  const found = fstatSync(pin.fd, { bigint: true })
  if (String(found.dev) !== dev || String(found.ino) !== ino)
    throw stale('the working directory was swapped while it was opened')
  if (siteRoots(site).some((root) => root.path === path)) return []
  return [mountOf({ fd: pin.fd, path }, writable)]
}

/** Code that the agent could change until it is read runs from a copy, where a person agreed to this code. */
const copiesOf = async ({ site, plan, setting, copies }: Given): Promise<Copies | null> => {
  if (!setting.approved) return null
  const codes = plan.code.filter(({ at, path }) => isWritable(site, at) || isWritable(site, path))
  if (codes.length === 0) return null
  // Only a sandbox with a view of its own can show them elsewhere.
  const inside = plan.facts.sandbox === 'bubblewrap' ? copiesInside : null
  return makeCopies(site, codes, { folder: copies, inside })
}

/** Opens what a process needs, in the order that it is taken down again in reverse. */
export const openSpec = async (given: Given): Promise<OpenedSpec> => {
  const { site, request, plan, setting } = given
  const opened: Opened = { pins: [], copies: null, egress: null }
  const started = () => {
    for (const pin of opened.pins.splice(0)) pin[Symbol.dispose]()
  }
  const close = async () => {
    started()
    await opened.egress?.[Symbol.asyncDispose]()
    await opened.copies?.[Symbol.asyncDispose]()
  }
  try {
    opened.copies = await copiesOf(given)
    const { copies } = opened
    if (request.network.length > 0) opened.egress = await given.openEgress(request.network)
    const mounts = [
      ...mountRoots(site, opened.pins),
      ...workingFolder(site, plan, opened.pins),
      ...(copies ? [{ source: copies.source, target: copies.target, writable: false }] : []),
    ]
    const args = [...request.args]
    let program = plan.facts.program.path
    for (const code of plan.code) {
      const at = copies?.at(code) ?? null
      if (at === null) continue
      if (code.argument === -1) program = at
      else args[code.argument] = at
    }
    return {
      spec: {
        program,
        args,
        environment: request.environment,
        working_directory: plan.facts.working_directory.path,
        mounts,
        network: opened.egress
          ? { kind: 'egress', socket: opened.egress.socket }
          : { kind: 'none' },
        limits: setting.limits,
      },
      refused: () => opened.egress?.refused().map(({ host, port }) => `${host}:${port}`) ?? [],
      started,
      [Symbol.asyncDispose]: close,
    }
  } catch (error) {
    await close()
    throw error
  }
}
