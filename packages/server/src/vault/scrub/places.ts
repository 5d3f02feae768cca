import type { Found, Matcher } from './matcher.ts'
import { squeezed, unescaped, type View } from './views.ts'

/** A secret in a text: from byte `start` up to, not including, `end`. */
export type Place = { readonly name: string; readonly start: number; readonly end: number }

/** JSON in JSON in a URL: deeper ones are no accident. */
const layersMax = 4

const isBase64 = (byte: number | undefined): boolean =>
  byte !== undefined && /[A-Za-z0-9+/_-]/.test(String.fromCharCode(byte))

const placeOf = (view: View, { pattern, start, end }: Found): Place => {
  const { bytes } = view
  let [first, last] = [start, end]
  if (pattern.before === 1 && isBase64(bytes[first - 1])) first -= 1
  if (pattern.after === 1 && isBase64(bytes[last])) last += 1
  return {
    name: pattern.name,
    start: view.from ? (view.from[first] as number) : first,
    end: view.to ? (view.to[last - 1] as number) : last,
  }
}

/** The text, and what it becomes when escapes are undone layer by layer, each also without white space. */
function* viewsOf(bytes: Uint8Array, tracks: boolean): Generator<View> {
  let view: View = { bytes, from: null, to: null }
  for (let layer = 0; layer < layersMax; layer += 1) {
    yield view
    const next = unescaped(view, tracks)
    // Lines are broken in the innermost text or in the outermost; between them nobody does.
    if (layer === 0 || !next) {
      const dense = squeezed(view, tracks)
      if (dense) yield dense
    }
    if (!next) return
    view = next
  }
}

const isIn = (matcher: Matcher, bytes: Uint8Array): boolean => {
  for (const view of viewsOf(bytes, false)) if (matcher.find(view.bytes).length > 0) return true
  return false
}

/** Where secrets stand, by their place, those that touch as one. */
export function placesIn(matcher: Matcher, bytes: Uint8Array): readonly Place[] {
  // Where each byte came from takes eight times the room: asked for only where there is something.
  if (!isIn(matcher, bytes)) return []
  const places: Place[] = []
  for (const view of viewsOf(bytes, true))
    for (const found of matcher.find(view.bytes)) places.push(placeOf(view, found))
  if (places.length < 2) return places
  const joined: Place[] = []
  for (const place of places.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    const last = joined.at(-1)
    if (last && place.start < last.end) {
      if (place.end > last.end) joined[joined.length - 1] = { ...last, end: place.end }
    } else joined.push(place)
  }
  return joined
}
