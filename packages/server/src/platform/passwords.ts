import { GatehouseError } from '@gatehouse/contract'
import type { Passwords } from '../ports/passwords.ts'

/** Each holds one of the four threads that files are read on, for some 50 ms, and 64 MiB. */
const atOnceMax = 2
const waitingMax = 8

const options = { memoryCost: 64 * 1024, timeCost: 3, parallelism: 1 }
/** argon2id; the package's enum is for its types only. */
const argon2id = 2

/** Of a password that nobody knows, with the same costs. */
const nobodys =
  '$argon2id$v=19$m=65536,t=3,p=1$c29tZSBzYWx0IG9mIG91cnM$kDLwSyv2Jz0oVb4TrQpZV8QeXyvQ6yPU7z5Z2cCjZp8'

type Argon2 = Pick<typeof import('@node-rs/argon2'), 'hash' | 'verify'>

/** argon2id, loaded at the first password: most processes never see one. */
export const createPasswords = (
  load: () => Promise<Argon2> = () => import('@node-rs/argon2'),
): Passwords => {
  let running = 0
  const waiting: (() => void)[] = []
  /** @SECURITY Bounded: 200 logins at once would hold 12.8 GiB; passwords.test.ts. */
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= atOnceMax) {
      if (waiting.length >= waitingMax)
        throw new GatehouseError('TooManyLogins', { retry_after_seconds: 2 })
      await new Promise<void>((resolve) => waiting.push(resolve))
    } else running += 1
    try {
      return await work()
    } finally {
      const next = waiting.shift()
      if (next) next()
      else running -= 1
    }
  }
  return {
    hash: (password) =>
      inTurn(async () =>
        (await load()).hash(password, { ...options, algorithm: argon2id as never }),
      ),
    verify: (hash, password) =>
      inTurn(async () => {
        // @SECURITY Time tells nobody which operators there are; passwords.test.ts.
        const right = await (await load()).verify(hash ?? nobodys, password)
        return right && hash !== null
      }),
  }
}
