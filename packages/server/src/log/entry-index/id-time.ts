const digits = '0123456789abcdefghjkmnpqrstvwxyz'
const timeDigits = 10

/** The moment in an id, in milliseconds; none but a likely one in an id of another form. */
export const timeOfId = (id: string): number => {
  let time = 0
  for (const digit of id.slice(id.indexOf('-') + 1).slice(0, timeDigits))
    time = time * digits.length + digits.indexOf(digit)
  return time
}
