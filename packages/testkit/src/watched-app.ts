import type { App } from '@gatehouse/server/app/app'

/** An application, and what is asked of it. */
export type WatchedApp<A extends App = App> = {
  readonly app: A
  /** Each use case that was called, in order. */
  readonly calls: string[]
  /** Use cases that have begun and not ended. */
  underWay(): number
  /** Subscriptions that have not ended. */
  listeners(): number
}

const isDisposable = (value: unknown): value is Disposable =>
  typeof value === 'object' && value !== null && Symbol.dispose in value

/** Looks on while the application does what it does. */
export const watchApp = <A extends App>(given: A): WatchedApp<A> => {
  const calls: string[] = []
  const open = new Set<object>()
  let underWay = 0
  const watch = (name: string, answer: unknown): unknown => {
    if (answer instanceof Promise) {
      underWay += 1
      return answer.finally(() => (underWay -= 1))
    }
    if (!name.startsWith('subscribe') || !isDisposable(answer)) return answer
    open.add(answer)
    return {
      [Symbol.dispose]() {
        open.delete(answer)
        answer[Symbol.dispose]()
      },
    }
  }
  const app = new Proxy(given, {
    get(target, name) {
      const part: unknown = Reflect.get(target, name)
      if (typeof part !== 'function') return part
      return (...args: unknown[]): unknown => {
        calls.push(String(name))
        return watch(String(name), Reflect.apply(part, target, args))
      }
    },
  })
  return { app, calls, underWay: () => underWay, listeners: () => open.size }
}
