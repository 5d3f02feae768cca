const bytesMin = 8
const bytesMax = 1_024

/** Passwords that lists of stolen ones begin with and that would be long enough. */
const common = new Set(
  `password password1 password12 password123 passw0rd p@ssw0rd p@ssword 12345678 123456789 1234567890
   11111111 00000000 88888888 87654321 987654321 0987654321 1q2w3e4r 1q2w3e4r5t 1qaz2wsx qwertyui
   qwertyuiop qwerty12 qwerty123 qwerty1234 asdfghjkl asdfasdf zxcvbnm1 iloveyou iloveyou1 sunshine
   princess football baseball superman batman123 trustno1 whatever welcome1 welcome123 letmein1
   letmein123 changeme changeme1 changeme123 admin123 admin1234 administrator adminadmin rootroot
   root1234 toor1234 default1 secret123 master123 dragon123 monkey123 shadow123 starwars computer
   internet michelle jennifer jordan23 abcd1234 abc12345 abcdefgh a1b2c3d4 aa123456 test1234 testtest
   testing123 temp1234 guest123 hello123 hellohello freedom1 mustang1 access14 corvette mercedes
   maverick metallica liverpool chelsea1 arsenal1 gatehouse gatehouse1 gatehouse123 operator operator1`
    .split(/\s+/)
    .filter((word) => word !== ''),
)

/** One spelling for each text, so that every keyboard's way of typing it is the same password. */
export const normalPassword = (password: string): string => password.normalize('NFC')

/** Why a password cannot be set; null if it can. Length is what makes one strong, so nothing else is asked. */
export function passwordFault(password: string, name: string): string | null {
  const bytes = new TextEncoder().encode(normalPassword(password)).length
  if (bytes < bytesMin) return `it is shorter than ${bytesMin} characters`
  if (bytes > bytesMax) return `it is longer than ${bytesMax} bytes`
  const plain = password.toLowerCase()
  if (common.has(plain)) return 'it is one of those that are tried first'
  if (plain.includes(name) && plain.length < name.length + bytesMin) return 'it is mostly the name'
  if (new Set(plain).size < 3) return 'it repeats itself'
  return null
}
