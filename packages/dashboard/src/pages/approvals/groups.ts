import type { Approval } from '@gatehouse/contract'

/** Requests that are the same but for their ids and times: one decision is enough for them. */
export type Group = {
  readonly key: string
  readonly first: Approval
  readonly all: readonly Approval[]
}

const keyOf = ({ agent, capability, digest, stale, critical }: Approval): string =>
  // A stale request is decided by itself, and so is a critical one.
  JSON.stringify([agent, capability, digest, stale, critical])

/** Oldest first; a group stands where its oldest request does. */
export function groupsOf(approvals: readonly Approval[]): readonly Group[] {
  const groups = new Map<string, Approval[]>()
  const oldestFirst = approvals.toSorted((a, b) => (a.requested_at < b.requested_at ? -1 : 1))
  for (const approval of oldestFirst) {
    const key = keyOf(approval)
    const group = groups.get(key)
    if (group) group.push(approval)
    else groups.set(key, [approval])
  }
  return [...groups.values()].flatMap((all) =>
    all[0] ? [{ key: all[0].id, first: all[0], all }] : [],
  )
}
