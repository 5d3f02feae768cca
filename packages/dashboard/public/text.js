// Everything that agents wrote reaches the page as text, never as markup.

/** Controls, marks that change the direction of writing, and what takes no room. */
const hidden = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\u115f\u1160\u3164\uffa0]/u

const codeOf = (character) =>
  `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`

/** The text with what nobody could see made visible. Line ends stay where `lines` says so. */
export function visible(text, { lines = false } = {}) {
  const fragment = document.createDocumentFragment()
  let plain = ''
  const flush = () => {
    fragment.append(plain)
    plain = ''
  }
  for (const character of text) {
    if (!hidden.test(character) || (lines && (character === '\n' || character === '\t'))) {
      plain += character
      continue
    }
    flush()
    const mark = document.createElement('span')
    mark.className = 'hidden-character'
    mark.textContent = codeOf(character)
    fragment.append(mark)
  }
  flush()
  return fragment
}

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const units = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
]

/** A time as people say it; the exact one is in its title. */
export function timeOf(iso) {
  const element = document.createElement('time')
  const seconds = (Date.parse(iso) - Date.now()) / 1000
  const [unit, length] = units.find(([, size]) => Math.abs(seconds) >= size) ?? units.at(-1)
  element.dateTime = iso
  element.title = `${iso} (${new Date(iso).toLocaleString()} here)`
  element.textContent = relative.format(Math.round(seconds / length), unit)
  return element
}

export function durationOf(seconds) {
  const [unit, length] = units.find(([, size]) => seconds >= size) ?? units.at(-1)
  const count = Math.floor(seconds / length)
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}
