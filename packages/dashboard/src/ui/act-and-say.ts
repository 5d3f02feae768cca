import { announce } from './toasts.tsx'

/**
 * Does what a menu offers, whose own place is gone by then: what came of it, or what went wrong, is announced, with the
 * way to undo it where there is one.
 */
export function actAndSay(work: () => Promise<string | null>, undo?: () => Promise<unknown>): void {
  void work().then(
    (said) => {
      if (said !== null) announce(said, undo)
    },
    (error: Error) => announce(error.message),
  )
}
