import { closeSync } from 'node:fs'

/** Descriptors that are closed together. */
export class Descriptors implements Disposable {
  readonly #descriptors: number[] = []

  take(descriptor: number): number {
    this.#descriptors.push(descriptor)
    return descriptor
  }

  [Symbol.dispose](): void {
    for (const descriptor of this.#descriptors) closeSync(descriptor)
  }
}
