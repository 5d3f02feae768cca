import { readFileSync } from 'node:fs'
import { GatehouseError } from '@gatehouse/contract'

export type ServiceUser = { readonly uid: number; readonly gid: number; readonly name: string }

/** Beyond what systems give out by themselves; the second for containers that have few ids. */
const candidates = [1_879_117_700, 60_777]

type Account = { readonly name: string; readonly uid: number; readonly gid: number }

const accounts = (passwd: string): readonly Account[] =>
  passwd.split('\n').flatMap((line) => {
    const [name, , uid, gid] = line.split(':')
    return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid) }] : []
  })

/** Whether this user namespace has the id at all; most have every one. */
const isMapped = (map: string, id: number): boolean =>
  map
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .some(([first = -1, , count = 0]) => first >= 0 && id >= first && id < first + count)

/**
 * User of the sandbox where the service itself is root: the one that was configured, else
 * `gatehouse` where there is such an account, else an id that is nobody's.
 * @SECURITY Never root, under whatever name; service-user.test.ts.
 */
export const chooseServiceUser = (
  configured: string | null,
  system: { readonly passwd: string; readonly uidMap: string },
): ServiceUser => {
  const known = accounts(system.passwd)
  const refuse = (detail: string): never => {
    throw new GatehouseError('InvalidConfiguration', { origin: 'sandbox.user', detail })
  }
  const wanted = configured ?? 'gatehouse'
  const found = known.find(({ name, uid }) => name === wanted || String(uid) === wanted)
  if (found) {
    if (found.uid === 0 || found.gid === 0) refuse(`${wanted} has the rights of root`)
    return found
  }
  if (configured !== null) {
    const id = /^\d{1,10}$/.test(configured) ? Number(configured) : NaN
    if (!(id > 0 && id < 2 ** 32 - 1)) refuse(`there is no user ${configured}`)
    return { uid: id, gid: id, name: configured }
  }
  const id = candidates.find(
    (free) =>
      isMapped(system.uidMap, free) && known.every(({ uid, gid }) => ![uid, gid].includes(free)),
  )
  if (id === undefined) return refuse('no free user id was found; name an account')
  return { uid: id, gid: id, name: String(id) }
}

export const readAccounts = (): { readonly passwd: string; readonly uidMap: string } => ({
  passwd: readFileSync('/etc/passwd', 'utf8'),
  uidMap: readFileSync('/proc/self/uid_map', 'utf8'),
})
