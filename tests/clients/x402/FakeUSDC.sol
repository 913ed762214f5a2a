// SPDX-License-Identifier: CC0-1.0
pragma solidity ^0.8.20;

/// A token for tests with what paying by x402 needs of USDC on Base: balances, and transfers by signed authorization
/// (EIP-3009) under the EIP-712 domain of the real one. It has no constructor, so that its code can be put at the real
/// one's address on a chain of the tests' own. Anybody may mint.
contract FakeUSDC {
    event Transfer(address indexed from, address indexed to, uint256 value);
    event AuthorizationUsed(address indexed authorizer, bytes32 indexed nonce);

    string public constant symbol = "USDC";
    uint8 public constant decimals = 6;
    string private constant NAME = "USD Coin";
    string private constant VERSION = "2";
    bytes32 private constant DOMAIN =
        keccak256("EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)");
    bytes32 private constant AUTHORIZATION = keccak256(
        "TransferWithAuthorization(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)"
    );

    mapping(address => uint256) public balanceOf;
    mapping(address => mapping(bytes32 => bool)) public authorizationState;

    function name() external pure returns (string memory) {
        return NAME;
    }

    function version() external pure returns (string memory) {
        return VERSION;
    }

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
        emit Transfer(address(0), to, value);
    }

    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce,
        uint8 v, bytes32 r, bytes32 s
    ) external {
        bytes32 digest = _use(from, to, value, validAfter, validBefore, nonce);
        _move(from, to, value, ecrecover(digest, v, r, s));
    }

    function transferWithAuthorization(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce,
        bytes calldata signature
    ) external {
        require(signature.length == 65, "ECRecover: invalid signature length");
        bytes32 digest = _use(from, to, value, validAfter, validBefore, nonce);
        address signer = ecrecover(
            digest, uint8(signature[64]), bytes32(signature[0:32]), bytes32(signature[32:64])
        );
        _move(from, to, value, signer);
    }

    /// Marks the authorization as used and gives what its signer has signed.
    function _use(
        address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce
    ) private returns (bytes32) {
        require(block.timestamp > validAfter, "FiatTokenV2: authorization is not yet valid");
        require(block.timestamp < validBefore, "FiatTokenV2: authorization is expired");
        require(!authorizationState[from][nonce], "FiatTokenV2: authorization is used or canceled");
        authorizationState[from][nonce] = true;
        emit AuthorizationUsed(from, nonce);
        bytes32 separator = keccak256(
            abi.encode(DOMAIN, keccak256(bytes(NAME)), keccak256(bytes(VERSION)), block.chainid, address(this))
        );
        bytes32 message = keccak256(abi.encode(AUTHORIZATION, from, to, value, validAfter, validBefore, nonce));
        return keccak256(abi.encodePacked("\x19\x01", separator, message));
    }

    function _move(address from, address to, uint256 value, address signer) private {
        require(signer != address(0) && signer == from, "FiatTokenV2: invalid signature");
        require(balanceOf[from] >= value, "ERC20: transfer amount exceeds balance");
        balanceOf[from] -= value;
        balanceOf[to] += value;
        emit Transfer(from, to, value);
    }
}
