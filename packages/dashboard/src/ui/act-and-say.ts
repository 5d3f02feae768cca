import { announce } from './toasts.tsx'

/** Does what a menu offers, whose own place is gone by then: what came of it, or what went wrong, is announced. */
export function actAndSay(work: () => Promise<string | null>): void {
  void work().then(
    (said) => {
      if (said !== null) announce(said)
    },
    (error: Error) => announce(error.message),
  )
}
