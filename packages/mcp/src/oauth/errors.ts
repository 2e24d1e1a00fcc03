/** Why there is no token. */

/** The server wants a person to log in. */
export class LoginNeeded extends Error {
  override readonly name = 'LoginNeeded'
}

/** The authorization server gives no token at the moment. */
export class TokenFailed extends Error {
  override readonly name = 'TokenFailed'
}
