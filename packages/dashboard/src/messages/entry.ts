export const entryText = {
  ended: 'Your login has ended',
  pageKept: 'The page is kept as it is. Log in to continue.',
  loggedOut: 'You are logged out.',
  logIn: 'Log in',
  name: 'Name',
  nameHint: 'Optional while there is only one operator.',
  password: 'Password',
  lost: 'Lost it? On the machine itself:',
  linkUsed: 'This link has been used. Log in with the password.',
  setUp: 'Create the first operator',
  setUpIntro: 'An operator decides what agents may do. The link that brought you here works once.',
  newNameHint: 'Lowercase letters, digits, dots and dashes. The audit log names you by it.',
  newPasswordHint:
    'At least 8 characters. Length matters more than complexity, and you can paste it.',
  again: 'Password again',
  differ: 'The two passwords differ.',
  create: 'Create operator and log in',
  noOperator: 'Nobody can log in yet',
  noOperatorIntro:
    'The first operator is created by a one-time link. The service prints one when it starts; this prints another, on the machine itself:',
  orPassword: 'Or set a password without a link:',
} as const
